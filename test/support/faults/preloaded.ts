// The product loads these modules late. On a clock that jumps during quiet times, their loading must not count as quiet.
import '../../../packages/eval-service/src/open-service.ts';
import '../../../src/engine/judge-trace.ts';
import '../../../src/server/open-server.ts';
import '../../../src/http/dispatcher.ts';
import '../../../src/mcp/probe-http.ts';
import '../../../src/gate/run/job-tunnel.ts';
import '../../../src/gate/run/hosted-backend.ts';
import '../../../src/gate/run/local-backend.ts';
import '../../../src/gate/run/local-relay.ts';
import '../../../src/gate/run/tool-clashes.ts';
import '../../../src/gate/run/local-assertions.ts';
import '../../../src/gate/run/evidence-log.ts';
import '../../../src/gate/run/read-baseline.ts';
import '../../../src/gate/run/retry-failed.ts';
import '../../../src/gate/run/stop-early.ts';
import '../../../src/gate/run/prepare-suite.ts';
