//! A server on rmcp: `notes stdio`, or `notes http <port>` with the endpoint /mcp.
//!
//! Over HTTP, TOKEN is the only bearer token that it accepts; with ISSUER and INTROSPECTION it asks that authorization server instead.

use std::env;

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    handler::server::{tool::InputResponses, wrapper::Parameters},
    model::{
        CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams, InputRequest, InputRequests,
        InputRequiredResult, ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::{
        stdio,
        streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager},
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

rmcp::elicit_safe!(Person);

#[derive(Clone)]
struct Notes;

fn answer(text: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

const QUESTION: &str = "Who are you?";

/// What a server of the newer revision returns; one of the older revision sends a request.
fn ask_for_name() -> InputRequiredResult {
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: QUESTION.into(),
        requested_schema: serde_json::from_value(form).expect("a form"),
    };
    let mut requests = InputRequests::new();
    requests.insert("name".into(), InputRequest::Elicitation(ElicitRequest::new(params)));
    InputRequiredResult::from_input_requests(requests)
}

#[tool_router]
impl Notes {
    #[tool(description = "Adds two numbers")]
    async fn add(&self, Parameters(Sum { a, b }): Parameters<Sum>) -> String {
        (a + b).to_string()
    }

    #[tool(description = "Asks for a name and greets it")]
    async fn greet(
        &self,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = if context.protocol_version() == Some(ProtocolVersion::V_2026_07_28) {
            match responses.as_ref().and_then(|given| given.get("name")) {
                None => return Ok(ask_for_name().into()),
                Some(given) => given["content"]["name"].as_str().map(String::from),
            }
        } else {
            match context.peer.elicit::<Person>(QUESTION).await {
                Ok(person) => person.map(|Person { name }| name),
                Err(rmcp::service::ElicitationError::UserDeclined) => None,
                Err(error) => return Err(ErrorData::internal_error(error.to_string(), None)),
            }
        };
        Ok(answer(name.map_or("No name given.".into(), |name| format!("Hello {name}."))))
    }
}

#[tool_handler]
impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// What RFC 7662 answers about a token.
#[derive(Deserialize)]
struct Introspected {
    active: bool,
}

async fn is_valid(token: &str) -> bool {
    let Ok(introspection) = env::var("INTROSPECTION") else {
        return env::var("TOKEN").is_ok_and(|expected| expected == token);
    };
    let asked = reqwest::Client::new().post(introspection).form(&[("token", token)]).send().await;
    match asked {
        Ok(response) => response.json::<Introspected>().await.is_ok_and(|found| found.active),
        Err(_) => false,
    }
}

const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

async fn guard(State(origin): State<String>, request: Request, next: Next) -> Response {
    let has_issuer = env::var("ISSUER").is_ok();
    if !has_issuer && env::var("TOKEN").is_err() {
        return next.run(request).await;
    }
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if let Some(token) = given.and_then(|value| value.strip_prefix("Bearer ")).map(String::from) {
        if is_valid(&token).await {
            return next.run(request).await;
        }
    }
    let challenge = match has_issuer {
        true => format!("Bearer resource_metadata=\"{origin}{METADATA}\""),
        false => "Bearer".into(),
    };
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
}

/// The metadata of RFC 9728, which anyone may read.
fn route_metadata(origin: &str) -> Router {
    let Ok(issuer) = env::var("ISSUER") else {
        return Router::new();
    };
    let metadata = json!({ "resource": format!("{origin}/mcp"), "authorization_servers": [issuer] });
    Router::new().route(METADATA, get(|| async { Json(metadata) }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    if args == ["stdio"] {
        Notes.serve(stdio()).await?.waiting().await?;
        return Ok(());
    }
    let service: StreamableHttpService<Notes, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Notes), Default::default(), StreamableHttpServerConfig::default());
    let origin = format!("http://127.0.0.1:{}", args[1]);
    let guarded = middleware::from_fn_with_state(origin.clone(), guard);
    let router = Router::new().nest_service("/mcp", service).layer(guarded).merge(route_metadata(&origin));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", args[1].parse::<u16>()?)).await?;
    Ok(axum::serve(listener, router).await?)
}
