// Loaded late by the product; where a clock jumps whenever nothing happens, their loading must not pass for such a time.
import '../../../src/engine/judge-trace.ts';
import '../../../src/server/open.ts';
import '../../../src/server/public-fetch.ts';
import '../../../src/server/ready-http.ts';
import '../../../src/gate/job-tunnel.ts';
import '../../../src/gate/judge-here.ts';
import '../../../src/gate/keep-trace.ts';
import '../../../src/gate/read-baseline.ts';
import '../../../src/gate/retry-failed.ts';
import '../../../src/gate/stop-early.ts';
import '../../../src/gate/sync-suite.ts';
