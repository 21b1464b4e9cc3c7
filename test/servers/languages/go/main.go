// A server on the official Go SDK: `notes stdio`, or `notes http <port>` with the endpoint /mcp.
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
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

func answer(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func add(_ context.Context, _ *mcp.CallToolRequest, args sum) (*mcp.CallToolResult, any, error) {
	return answer(fmt.Sprint(args.A + args.B)), nil, nil
}

// The SDK turns input requests into requests of the older revision for clients that speak that one.
func greet(_ context.Context, request *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	given, isAnswered := request.Params.InputResponses["name"].(*mcp.ElicitResult)
	if !isAnswered {
		form := &jsonschema.Schema{
			Type:       "object",
			Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}},
			Required:   []string{"name"},
		}
		asked := &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: form}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": asked}}, nil, nil
	}
	if given.Action != "accept" {
		return answer("No name given."), nil, nil
	}
	return answer(fmt.Sprintf("Hello %v.", given.Content["name"])), nil, nil
}

func verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	introspection := os.Getenv("INTROSPECTION")
	isActive := token == os.Getenv("TOKEN")
	if introspection != "" {
		response, err := http.PostForm(introspection, url.Values{"token": {token}})
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		var state struct{ Active bool }
		if err := json.NewDecoder(response.Body).Decode(&state); err != nil {
			return nil, err
		}
		isActive = state.Active
	}
	if !isActive {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{Expiration: time.Now().Add(time.Minute)}, nil
}

func guard(handler http.Handler, origin string) http.Handler {
	issuer := os.Getenv("ISSUER")
	if issuer == "" && os.Getenv("TOKEN") == "" {
		return handler
	}
	options := &auth.RequireBearerTokenOptions{}
	routes := http.NewServeMux()
	if issuer != "" {
		options.ResourceMetadataURL = origin + "/.well-known/oauth-protected-resource/mcp"
		metadata := &oauthex.ProtectedResourceMetadata{Resource: origin + "/mcp", AuthorizationServers: []string{issuer}}
		routes.Handle("/.well-known/oauth-protected-resource/mcp", auth.ProtectedResourceMetadataHandler(metadata))
	}
	routes.Handle("/mcp", auth.RequireBearerToken(verify, options)(handler))
	return routes
}

// The SDK serves the revision with sessions and the one without in handlers of their own.
func serveBothRevisions(server *mcp.Server) http.Handler {
	choose := func(*http.Request) *mcp.Server { return server }
	older := mcp.NewStreamableHTTPHandler(choose, nil)
	newer := mcp.NewStreamableHTTPHandler(choose, &mcp.StreamableHTTPOptions{Stateless: true})
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			newer.ServeHTTP(response, request)
		} else {
			older.ServeHTTP(response, request)
		}
	})
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers"}, add)
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Asks for a name and greets it"}, greet)
	if strings.Join(os.Args[1:], " ") == "stdio" {
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	address := "127.0.0.1:" + os.Args[2]
	log.Fatal(http.ListenAndServe(address, guard(serveBothRevisions(server), "http://"+address)))
}
