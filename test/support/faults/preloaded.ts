// Loaded late by the product; where a clock jumps whenever nothing happens, their loading must not pass for such a time.
import '../../../packages/eval-service/src/open.ts';
import '../../../src/engine/judge-trace.ts';
import '../../../src/server/open.ts';
import '../../../src/http/dispatcher.ts';
import '../../../src/mcp/probe-http.ts';
import '../../../src/gate/run/job-tunnel.ts';
import '../../../src/gate/run/hosted-backend.ts';
import '../../../src/gate/run/tool-clashes.ts';
import '../../../src/gate/run/local-assertions.ts';
import '../../../src/gate/run/evidence.ts';
import '../../../src/gate/run/read-baseline.ts';
import '../../../src/gate/run/retry-failed.ts';
import '../../../src/gate/run/stop-early.ts';
import '../../../src/gate/run/prepare-suite.ts';
