//! Links that sign shoppers in to the portal: `/v1/portal_links`.

use axum::Json;
use axum::extract::State;
use secrecy::ExposeSecret as _;
use store::returns::portal_links::Made;
use wire::answer::ErrorBody;
use wire::fault::{Code, Fault};
use wire::returns::portal_link::{PortalLinkOut, read};
use wire::time;

use crate::app::App;
use crate::flow::returns::make_link::{MakeLinkError, make_link};
use crate::http::body::JsonBody;
use crate::http::caller::Merchant;
use crate::http::error::ApiError;

/// Make a link that signs a shopper in.
///
/// For a shopper who is logged in to the shop: redirect the browser to `url` at once. It opens the order in the portal, once, within 10
/// minutes, and asks for nothing. With `support`, the pages and the audit name the person who acts for the shopper.
#[utoipa::path(
    post,
    path = "/v1/portal_links",
    tag = "returns",
    security(("oauth2" = ["orders"])),
    request_body(content = ref("#/components/schemas/MakePortalLink"), content_type = "application/json"),
    responses(
        (status = 200, description = "The link is made.", body = PortalLinkOut),
        (status = 400, description = "Malformed JSON.", body = ErrorBody),
        (status = 409, description = "The portal has no public address to link to.", body = ErrorBody),
        (status = 422, description = "The request has faults, such as an order that the merchant does not have; `errors` lists each with its path.", body = ErrorBody),
    )
)]
pub(crate) async fn make(State(app): State<App>, caller: Merchant, JsonBody(body): JsonBody) -> Result<Json<PortalLinkOut>, ApiError> {
    let wanted = read(&body)?;
    let made = Made { order: wanted.order_identifier.0.into_owned(), support: wanted.support.0 };
    let language = wanted.language.as_ref().map(|language| &*language.0);
    let link = make_link(&app, None, caller.merchant, &made, language).await.map_err(|error| match error {
        MakeLinkError::NoSuchOrder => {
            ApiError::Faulty(vec![Fault::new("order_identifier", Code::Invalid, "is not an order of the merchant")])
        }
        MakeLinkError::NoAddress => ApiError::Conflict(
            "The portal has no public address to link to. Ask your operator to set `portal.url`, or a host name of yours.".to_owned(),
        ),
        MakeLinkError::Failed(failed) => failed.into(),
    })?;
    Ok(Json(PortalLinkOut { url: link.url.expose_secret().to_owned(), expires_at: time::write(link.expires_at) }))
}
