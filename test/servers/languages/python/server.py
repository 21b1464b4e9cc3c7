"""A server on FastMCP: `server.py stdio`, or `server.py http <port>` with the endpoint /mcp.

Over HTTP, TOKEN is the only bearer token that it accepts; with ISSUER and INTROSPECTION it asks that authorization server instead.
"""

import os
import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.server.auth import AuthProvider, RemoteAuthProvider, StaticTokenVerifier
from fastmcp.server.auth.providers.introspection import IntrospectionTokenVerifier
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import AnyHttpUrl

MODERN = "2026-07-28"


@dataclass
class Person:
    name: str


def say_hello(action: str, name: str) -> str:
    return f"Hello {name}." if action == "accept" else "No name given."


def create_server(auth: AuthProvider | None) -> FastMCP:
    server = FastMCP("notes", auth=auth)

    @server.tool
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    # A server of the newer revision returns what it asks for; one of the older revision sends a request.
    @server.tool(output_schema=None)
    async def greet(ctx: Context) -> str | InputRequiredResult:
        """Asks for a name and greets it."""
        message = "Who are you?"
        if ctx.request_context is None or ctx.request_context.protocol_version != MODERN:
            result = await ctx.elicit(message, Person)
            return say_hello(result.action, result.data.name if result.action == "accept" else "")
        answer = (ctx.input_responses or {}).get("name")
        if answer is not None:
            return say_hello(answer.action, str((answer.content or {}).get("name")))
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        params = ElicitRequestFormParams(message=message, requested_schema=form)
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=params)})

    return server


def choose_auth(origin: str) -> AuthProvider | None:
    token, issuer = os.environ.get("TOKEN"), os.environ.get("ISSUER")
    if issuer:
        verifier = IntrospectionTokenVerifier(
            introspection_url=os.environ["INTROSPECTION"], client_id="notes", client_secret="unused"
        )
        return RemoteAuthProvider(verifier, [AnyHttpUrl(issuer)], origin)
    return StaticTokenVerifier({token: {"client_id": "gate", "scopes": []}}) if token else None


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        create_server(None).run(show_banner=False)
    else:
        port = int(sys.argv[2])
        auth = choose_auth(f"http://127.0.0.1:{port}")
        create_server(auth).run(transport="http", host="127.0.0.1", port=port, show_banner=False)
