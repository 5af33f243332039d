//! `POST …/brand/logo`: a logo, as a file that somebody chose.

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::response::Response;

use super::brand::refused;
use super::by::{By, Manager};
use super::error::ConsoleError;
use super::form::Path;
use super::merchant_head::find;
use crate::app::App;
use crate::flow::merchants::configure_brand::{BrandChange, ConfigureBrandError, LogoChange, MOST_LOGO_BYTES, set_brand};
use crate::http::body;
use crate::http::pages::see;

/// The largest form: a logo, and what is around it.
const MOST_BYTES: usize = MOST_LOGO_BYTES + 16 * 1024;

/// The files of a form.
pub(super) struct Files {
    logo: Option<LogoChange>,
    dark_logo: Option<LogoChange>,
}

impl FromRequest<App> for Files {
    type Rejection = ConsoleError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ConsoleError> {
        // The whole form first, with the limits and the time that every body has.
        let (head, body) = request.into_parts();
        let whole = body::read(Request::from_parts(head.clone(), body), app, MOST_BYTES).await?;
        let request = Request::from_parts(head, Body::from(whole));
        let mut parts = Multipart::from_request(request, app).await.map_err(|_| ConsoleError::Foreign)?;
        let mut files = Self { logo: None, dark_logo: None };
        while let Some(part) = parts.next_field().await.map_err(|_| ConsoleError::Foreign)? {
            let name = part.name().unwrap_or_default().to_owned();
            let bytes = part.bytes().await.map_err(|_| ConsoleError::Foreign)?;
            // A field in which nothing was chosen is an empty file.
            let file = (!bytes.is_empty()).then(|| LogoChange::File(bytes.to_vec()));
            match name.as_str() {
                "logo" => files.logo = file,
                "dark_logo" => files.dark_logo = file,
                _ => return Err(ConsoleError::Foreign),
            }
        }
        Ok(files)
    }
}

pub(super) async fn set(by: By<Manager>, Path(handle): Path<String>, files: Files) -> Result<Response, ConsoleError> {
    let merchant = find(&by.app, &handle).await?;
    let Files { logo, dark_logo } = files;
    if logo.is_none() && dark_logo.is_none() {
        return Err(ConsoleError::Refused("No file was chosen, so nothing was changed.".to_owned()));
    }
    let change = BrandChange { logo, dark_logo, ..BrandChange::default() };
    match set_brand(&by.app, &by.actor(), merchant.id, change).await {
        Err(ConfigureBrandError::DarkLogoAlone) => {
            return Err(ConsoleError::Refused("A logo for dark pages needs one for light pages, too: choose both files.".to_owned()));
        }
        done => done.map_err(refused)?,
    }
    Ok(see(&format!("/merchants/{handle}/brand")))
}
