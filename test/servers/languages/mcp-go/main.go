// A server on mcp-go of mark3labs: `notes stdio`, or `notes http <port>` with the endpoint /mcp.
//
// Over HTTP, TOKEN is the only bearer token that it accepts; with ISSUER and INTROSPECTION it asks that authorization server instead.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

func add(_ context.Context, _ mcp.CallToolRequest, args sum) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(fmt.Sprint(args.A + args.B)), nil
}

// The framework turns input requests into requests of the older revision for clients that speak that one.
func greet(_ context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	given := server.ElicitationResponse(request.Params.InputResponses, "name")
	if given == nil {
		form := map[string]any{
			"type":       "object",
			"properties": map[string]any{"name": map[string]any{"type": "string"}},
			"required":   []string{"name"},
		}
		asked := mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: "Who are you?", RequestedSchema: form}
		return server.NewInputRequestBuilder("").Elicit("name", asked).ToolResult(), nil
	}
	content, _ := given.Content.(map[string]any)
	if given.Action != mcp.ElicitationResponseActionAccept {
		return mcp.NewToolResultText("No name given."), nil
	}
	return mcp.NewToolResultText(fmt.Sprintf("Hello %v.", content["name"])), nil
}

func isValid(token string) bool {
	introspection := os.Getenv("INTROSPECTION")
	if introspection == "" {
		return token == os.Getenv("TOKEN")
	}
	response, err := http.PostForm(introspection, url.Values{"token": {token}})
	if err != nil {
		return false
	}
	defer response.Body.Close()
	var state struct{ Active bool }
	return json.NewDecoder(response.Body).Decode(&state) == nil && state.Active
}

// The framework has the metadata of OAuth, and leaves the tokens to the server.
func guard(handler http.Handler, origin string) http.Handler {
	issuer := os.Getenv("ISSUER")
	if issuer == "" && os.Getenv("TOKEN") == "" {
		return handler
	}
	challenge := "Bearer"
	routes := http.NewServeMux()
	if issuer != "" {
		metadata := server.ProtectedResourceMetadataConfig{Resource: origin + "/mcp", AuthorizationServers: []string{issuer}}
		path := server.ProtectedResourceMetadataPath(metadata.Resource)
		challenge = fmt.Sprintf("Bearer resource_metadata=%q", origin+path)
		routes.Handle(path, server.NewProtectedResourceMetadataHandler(metadata))
	}
	routes.HandleFunc("/mcp", func(response http.ResponseWriter, request *http.Request) {
		token, isBearer := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
		if isBearer && isValid(token) {
			handler.ServeHTTP(response, request)
			return
		}
		response.Header().Set("WWW-Authenticate", challenge)
		response.WriteHeader(http.StatusUnauthorized)
	})
	return routes
}

func main() {
	notes := server.NewMCPServer("notes", "1.0.0", server.WithToolCapabilities(false), server.WithElicitation())
	numbers := []mcp.ToolOption{mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required())}
	addition := mcp.NewTool("add", append(numbers, mcp.WithDescription("Adds two numbers"))...)
	notes.AddTool(addition, mcp.NewTypedToolHandler(add))
	notes.AddTool(mcp.NewTool("greet", mcp.WithDescription("Asks for a name and greets it")), greet)
	if strings.Join(os.Args[1:], " ") == "stdio" {
		if err := server.ServeStdio(notes); err != nil {
			log.Fatal(err)
		}
		return
	}
	address := "127.0.0.1:" + os.Args[2]
	endpoint := server.NewStreamableHTTPServer(notes, server.WithEndpointPath("/mcp"))
	log.Fatal(http.ListenAndServe(address, guard(endpoint, "http://"+address)))
}
