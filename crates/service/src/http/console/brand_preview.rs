//! `GET /merchants/{handle}/brand/preview`: the portal's first page with a brand that is being edited, to be shown in a frame.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use domain::merchants::brand::{Brand, Radius};
use serde::{Deserialize, Serialize};
use store::merchants::brands;

use super::brand::{LANGUAGE, edited};
use super::by::{By, Viewer};
use super::error::ConsoleError;
use super::form::{Path, Query, Typed};
use super::merchant_head::find;
use crate::http::pages::frame::Reader;
use crate::http::pages::headers;
use crate::http::portal;
use crate::platform::texts::Languages;
use crate::shops::{Shop, ShopBrand, brand_of};

/// The look of a brand in the address of its style sheet.
#[derive(Deserialize, Serialize)]
pub(super) struct Look {
    accent: String,
    radius: u8,
    pill_buttons: bool,
}

impl Look {
    fn of(brand: Brand) -> Self {
        Self { accent: brand.accent.to_string(), radius: brand.radius.get(), pill_buttons: brand.pill_buttons }
    }

    fn read(&self) -> Option<Brand> {
        Some(Brand { accent: self.accent.parse().ok()?, radius: Radius::new(self.radius)?, pill_buttons: self.pill_buttons })
    }
}

pub(super) async fn show(by: By<Viewer>, Path(handle): Path<String>, Query(typed): Query<Typed>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let brand = brand_of(&by.app, merchant.id).await?;
    let (_, after) = edited(&typed, &brand).map_err(ConsoleError::Refused)?;
    let shop = by.app.shops.find_by_handle(&by.app, &handle).await?.ok_or(ConsoleError::NotFound)?;
    let language = typed.get(LANGUAGE).and_then(|code| Languages::default().find(code)).unwrap_or_default();
    let reader = Reader {
        shop: Arc::new(with_brand(&shop, after)?),
        language,
        languages: Languages::default(),
        root: format!("/merchants/{handle}/brand/preview").into(),
        support: None,
        is_preview: true,
    };
    let page = portal::first_page(State(by.app.clone()), reader).await;
    Ok(headers::within_frame(page.map_err(|error| ConsoleError::Internal(format!("{error:?}")))?))
}

/// The shop with another brand, whose style sheet is made from its own address.
fn with_brand(shop: &Shop, brand: ShopBrand) -> Result<Shop, ConsoleError> {
    let look = serde_urlencoded::to_string(Look::of(brand.settings.look()?)).map_err(|error| ConsoleError::Internal(error.to_string()))?;
    let brand = ShopBrand { style: Some(format!("style.css?{look}")), ..brand };
    Ok(Shop { brand, ..shop.clone() })
}

/// `GET …/brand/style.css`: the style sheet of a brand.
pub(super) async fn style(_: By<Viewer>, Query(look): Query<Look>) -> Result<Response, ConsoleError> {
    let css = look.read().ok_or(ConsoleError::NotFound)?.style_sheet();
    Ok(([(header::CONTENT_TYPE, "text/css; charset=utf-8")], css).into_response())
}

/// `GET …/brand/{file}`: a logo of the merchant.
pub(super) async fn logo(by: By<Viewer>, Path((handle, file)): Path<(String, String)>) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let hash = file.strip_suffix(".png").filter(|hash| !hash.contains('\0')).ok_or(ConsoleError::NotFound)?;
    let logo = brands::find_logo(by.app.store(merchant.id), merchant.id, hash).await?.ok_or(ConsoleError::NotFound)?;
    Ok(([(header::CONTENT_TYPE, "image/png")], logo).into_response())
}
