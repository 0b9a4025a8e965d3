//! Planned faults of requests for vectors.

use std::future;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};

use crate::model::dialect::VectorDialect;
use crate::model::fault::VectorFault;
use crate::model::request::VectorRequest;

/// Returns the response with the planned fault.
pub(super) async fn response(
    dialect: &dyn VectorDialect,
    fault: &VectorFault,
    asked: &VectorRequest,
    mut vectors: Vec<Vec<f32>>,
) -> Response {
    match fault {
        VectorFault::Status { status, message, retry_after } => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let body = dialect.service().error(status, message, *retry_after);
            let mut response = (status, Json(body)).into_response();
            if let Some(seconds) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, (*seconds).into());
            }
            return response;
        }
        VectorFault::Page => return Html("<html>Welcome</html>").into_response(),
        VectorFault::Silence => future::pending::<()>().await,
        VectorFault::OneMissing => drop(vectors.pop()),
        VectorFault::OneShorter => {
            vectors.last_mut().into_iter().for_each(|last| last.truncate(last.len() - 1))
        }
        VectorFault::OneWithoutDirection => vectors.last_mut().into_iter().for_each(|last| last.fill(0.0)),
    }
    Json(dialect.write(asked, &vectors)).into_response()
}
