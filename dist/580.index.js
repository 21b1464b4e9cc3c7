export const id = 580;
export const ids = [580];
export const modules = {

/***/ 580:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  localLimits: () => (/* binding */ localLimits),
  openEmbeddedService: () => (/* binding */ openEmbeddedService)
});

// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __webpack_require__(7598);
// EXTERNAL MODULE: external "node:events"
var external_node_events_ = __webpack_require__(8474);
// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(7067);
// EXTERNAL MODULE: ./node_modules/@hono/node-server/dist/index.mjs + 2 modules
var dist = __webpack_require__(6652);
// EXTERNAL MODULE: ./lib/base/errors.js
var errors = __webpack_require__(7594);
// EXTERNAL MODULE: ./lib/base/redaction.js
var redaction = __webpack_require__(44);
// EXTERNAL MODULE: ./node_modules/hono/dist/index.js + 21 modules
var hono_dist = __webpack_require__(120);
// EXTERNAL MODULE: ./node_modules/hono/dist/helper/route/index.js
var route = __webpack_require__(6733);
;// CONCATENATED MODULE: ./lib/embedded/digest.js

/** SHA-256 of a text. */
function digestText(text) {
    return (0,external_node_crypto_.createHash)('sha256').update(text).digest();
}
/** Compares a presented secret with the digest of the right one, so that neither length nor prefix shows in the time. */
function isSecretOf(presented, expected) {
    return (0,external_node_crypto_.timingSafeEqual)(digestText(presented), expected);
}

;// CONCATENATED MODULE: ./lib/embedded/envelope.js
/** The only pairings of code and status that the API answers with. */
const statusByCode = {
    VALIDATION_ERROR: 400,
    UNAUTHORIZED: 401,
    OAUTH_REQUIRED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    CONFLICT: 409,
    FEATURE_NOT_SUPPORTED: 422,
    RATE_LIMITED: 429,
    INTERNAL_ERROR: 500,
    SERVER_UNREACHABLE: 502,
    TIMEOUT: 504,
};
/** A request that is refused: what travels to the client as `{code, message, details?}`. */
class ApiError extends Error {
    code;
    details;
    /** Whole seconds, 1 or more, told in Retry-After; undefined where waiting would not help. */
    retryAfterSeconds;
    constructor(code, message, options = {}) {
        super(message, options.cause === undefined ? undefined : { cause: options.cause });
        this.name = 'ApiError';
        this.code = code;
        this.details = options.details ?? {};
        this.retryAfterSeconds = options.retryAfterSeconds;
    }
}
/** Renders a refusal as the response it stands for; empty `details` are left out. */
function renderApiError(error) {
    const details = Object.keys(error.details).length === 0 ? {} : { details: error.details };
    const headers = error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) };
    return Response.json({ code: error.code, message: error.message, ...details }, { status: statusByCode[error.code], headers });
}
/** The refusal for something that does not exist, or is another project's: the two must look alike. */
function notFound(what) {
    return new ApiError('NOT_FOUND', `${what} not found.`);
}
function invalid(message, details = {}) {
    return new ApiError('VALIDATION_ERROR', message, { details });
}
/** The refusal for an operation of the API that this service lacks; `why` is a whole sentence. */
function notSupported(why) {
    return new ApiError('FEATURE_NOT_SUPPORTED', why);
}

;// CONCATENATED MODULE: ./lib/embedded/auth.js


const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** Whether a host name, without its port, means this machine. */
function isLoopbackName(hostname) {
    return loopbackHosts.has(hostname);
}
/**
 * Refuses a Host that is not a loopback name: a web page can make its own name resolve to 127.0.0.1 (DNS rebinding),
 * and then only the Host header tells it apart from a client of this machine.
 */
function requireLoopbackHost() {
    return async (context, next) => {
        const { hostname } = new URL(context.req.url);
        if (!isLoopbackName(hostname)) {
            throw new ApiError('FORBIDDEN', `This service answers to loopback names only, not to ${JSON.stringify(hostname)}.`);
        }
        await next();
    };
}
/** Demands `Authorization: Bearer <key>`. */
function requireApiKey(apiKey) {
    const expected = digestText(apiKey.reveal());
    return async (context, next) => {
        const presented = parseBearer(context.req.header('authorization'));
        if (presented === undefined)
            throw new ApiError('UNAUTHORIZED', 'Bearer token required');
        if (!isSecretOf(presented, expected))
            throw new ApiError('UNAUTHORIZED', 'Invalid API key');
        await next();
    };
}
/** Reads the token of an Authorization header; undefined where there is none. */
function parseBearer(header) {
    return /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

// EXTERNAL MODULE: ./node_modules/zod/v4/classic/schemas.js + 2 modules
var schemas = __webpack_require__(8343);
// EXTERNAL MODULE: ./lib/base/clock.js + 1 modules
var clock = __webpack_require__(6057);
// EXTERNAL MODULE: ./lib/base/deadline.js
var deadline = __webpack_require__(4361);
// EXTERNAL MODULE: ./lib/base/sentence.js
var sentence = __webpack_require__(2288);
// EXTERNAL MODULE: ./node_modules/@modelcontextprotocol/client/dist/index.mjs + 15 modules
var client_dist = __webpack_require__(2299);
;// CONCATENATED MODULE: ./lib/engine/json-equal.js
/** Whether two JSON values are the same document: key order is free, and nothing is coerced. */
function isJsonEqual(left, right) {
    if (left === right)
        return true;
    if (Array.isArray(left)) {
        return (Array.isArray(right) &&
            left.length === right.length &&
            left.every((item, index) => isJsonEqual(item, right[index])));
    }
    if (!isJsonObject(left) || !isJsonObject(right))
        return false;
    const keys = Object.keys(left);
    return (keys.length === Object.keys(right).length &&
        keys.every((key) => Object.hasOwn(right, key) && isJsonEqual(left[key], right[key])));
}
/** Tells a JSON object from the other things JavaScript calls objects. */
function isJsonObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}

;// CONCATENATED MODULE: ./lib/engine/reasons.js
/** The API's limits for what a predicate may say. */
const longestReason = 600;
const longestValue = 200;
const deepestLevel = 6;
const sensitiveKey = /authorization|bearer|passw|secret|token|api[-_ ]?key|cookie|credential|private[-_ ]?key/i;
/** Prints a value as JSON for a sentence: at most 200 characters, members with telling names masked, depth limited. */
function printValue(value) {
    if (value === undefined)
        return 'nothing';
    // A result may be megabytes long; only what can be printed is worth encoding, quotes included.
    const text = typeof value === 'string' ? clip(value, longestValue - 2) : maskSensitive(value, 0);
    return clip(JSON.stringify(text) ?? String(text), longestValue);
}
/** Cuts a reason to 600 characters, which is what the API keeps. */
function clipReason(reason) {
    return clip(reason, longestReason);
}
function clip(text, length) {
    return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
function maskSensitive(value, level) {
    if (typeof value !== 'object' || value === null)
        return value;
    if (level === deepestLevel)
        return '…';
    if (Array.isArray(value))
        return value.map((item) => maskSensitive(item, level + 1));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, sensitiveKey.test(key) ? '***' : maskSensitive(item, level + 1)]));
}

;// CONCATENATED MODULE: ./lib/engine/faults.js





/** What a bridge puts into the error data when the process behind it is gone: nobody answered the call. */
const serverExitedReason = 'server_exited';
/** The errors of the SDK that describe an answer. All others are about getting one. */
const answeredCodes = new Set([
    client_dist/* SdkErrorCode */.OH.InvalidResult,
    client_dist/* SdkErrorCode */.OH.UnsupportedResultType,
    client_dist/* SdkErrorCode */.OH.InputRequiredRoundsExceeded,
    client_dist/* SdkErrorCode */.OH.CapabilityNotSupported,
]);
const errorBodySchema = schemas/* object */.Ikc({ jsonrpc: schemas/* literal */.euz('2.0'), error: schemas/* object */.Ikc({ message: schemas/* string */.YjP().min(1) }) });
/** Sorts what a tool call was rejected with. */
function classifyCallFault(error) {
    if (error instanceof client_dist/* ProtocolError */.bd) {
        const hasExited = isJsonObject(error.data) && error.data['reason'] === serverExitedReason;
        if (hasExited)
            return { kind: 'unreachable', message: error.message };
        return { kind: 'answered', message: error.message, code: error.code };
    }
    if (error instanceof client_dist/* SdkError */.Fp && answeredCodes.has(error.code)) {
        return { kind: 'answered', message: error.message, code: null };
    }
    return { kind: 'unreachable', message: describeUnreachable(error) };
}
/** Says what kept an answer from arriving: of a body only the message of a JSON-RPC error, never an error page. */
function describeUnreachable(error) {
    if (!(error instanceof client_dist/* SdkHttpError */.HC))
        return (0,errors/* describeError */.Uc)(error);
    const status = `it answered HTTP ${error.status}`;
    const message = readErrorMessage(error.data['text']);
    if (message !== null)
        return `${status}: ${clipReason(message)}`;
    return error.status === 404 ? `${status} (no such session or path)` : status;
}
function readErrorMessage(body) {
    if (typeof body !== 'string')
        return null;
    try {
        const parsed = errorBodySchema.safeParse(JSON.parse(body));
        return parsed.success ? parsed.data.error.message : null;
    }
    catch {
        return null;
    }
}

// EXTERNAL MODULE: ./lib/base/version.js
var version = __webpack_require__(6413);
// EXTERNAL MODULE: ./node_modules/undici/index.js
var undici = __webpack_require__(6752);
;// CONCATENATED MODULE: ./lib/engine/fetch.js

/** Node gives up on a response after five silent minutes; a tool may take as long as its case allows. */
const patientAgent = new undici/* Agent */.g6({ headersTimeout: 0, bodyTimeout: 0 });
/** The fetch of a session: without time limits of its own, since the iteration has one. */
const fetchWithoutTimeouts = (url, init = {}) => (0,undici/* fetch */.hd)(url, {
    method: init.method ?? 'GET',
    headers: [...new Headers(init.headers)],
    body: typeof init.body === 'string' ? init.body : null,
    signal: init.signal ?? null,
    redirect: init.redirect ?? 'follow',
    dispatcher: patientAgent,
});

;// CONCATENATED MODULE: ./lib/engine/traffic.js


/**
 * Watches what passes through a connected transport. The SDK waits for ever on an event stream that ends without an
 * answer, and closing it would cut off a cancellation that is still being sent.
 */
function watchTraffic(transport) {
    const lost = Promise.withResolvers();
    // It is raced by calls only; between two of them nobody listens.
    lost.promise.catch(() => { });
    const unanswered = new Set();
    const notifications = new Set();
    const deliver = transport.onmessage;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport is no EventTarget
    transport.onmessage = (message) => {
        const isResponse = (0,client_dist/* isJSONRPCResultResponse */.ig)(message) || (0,client_dist/* isJSONRPCErrorResponse */.LW)(message);
        if (isResponse && message.id !== undefined)
            unanswered.delete(message.id);
        deliver?.(message);
    };
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
        if ((0,client_dist/* isJSONRPCNotification */.lg)(message)) {
            const delivery = send(message, options);
            notifications.add(delivery);
            return await delivery.finally(() => notifications.delete(delivery));
        }
        if (!(0,client_dist/* isJSONRPCRequest */.vo)(message))
            return await send(message, options);
        unanswered.add(message.id);
        const onRequestStreamEnd = () => {
            options?.onRequestStreamEnd?.();
            if (!unanswered.has(message.id))
                return;
            lost.reject(new errors/* NetworkError */.Dr(`The server closed its response to ${message.method} without an answer.`));
        };
        return await send(message, { ...options, onRequestStreamEnd });
    };
    return {
        lost: lost.promise,
        waitForNotifications: async () => {
            await Promise.allSettled(notifications);
        },
    };
}

;// CONCATENATED MODULE: ./lib/engine/session.js




/** The one revision of the modern era so far. */
const modernRevision = '2026-07-28';
/** How long the end of a session may take, in milliseconds; a server that is stuck keeps its session. */
const closeTimeoutMs = 2000;
/** The SDK's own limit per request is 60 s; the signal is the only limit here, so its timer is set out of the way. */
const sdkTimeoutMs = 2 ** 31 - 1;
/**
 * Opens a session with the target and completes the handshake.
 *
 * No capability is advertised, so the SDK refuses what a server asks of its client: sampling, elicitation and roots.
 *
 * @throws the SDK's or fetch's error when there is no handshake, or the signal's reason.
 */
async function openSession(target, { clock, signal }) {
    signal.throwIfAborted();
    const transport = new client_dist/* StreamableHTTPClientTransport */.jS(new URL(target.url), {
        fetch: fetchWithoutTimeouts,
        ...(target.headers !== undefined && { requestInit: { headers: target.headers } }),
    });
    const client = new client_dist/* Client */.Kj(version/* generator */.w, {
        capabilities: {},
        versionNegotiation: { mode: target.protocol === 'modern' ? { pin: modernRevision } : target.protocol },
    });
    const limits = { timeout: sdkTimeoutMs };
    try {
        await raceSignal(client.connect(transport, { ...limits, signal }), signal);
    }
    catch (error) {
        await client.close();
        throw error;
    }
    const traffic = watchTraffic(transport);
    const server = client.getServerVersion();
    return {
        protocol: client.getProtocolEra() ?? 'legacy',
        protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
        server: server === undefined ? null : { name: server.name, version: server.version },
        callTool: (toolName, args, { signal }) => raceSignal(Promise.race([client.callTool({ name: toolName, arguments: args }, { ...limits, signal }), traffic.lost]), signal),
        listOutputSchemas: async ({ signal }) => {
            const listing = client.listTools(undefined, { ...limits, signal, cacheMode: 'bypass' });
            const { tools } = await raceSignal(Promise.race([listing, traffic.lost]), signal);
            return new Map(tools.flatMap((tool) => (tool.outputSchema === undefined ? [] : [[tool.name, tool.outputSchema]])));
        },
        [Symbol.asyncDispose]: async () => {
            const stop = new AbortController();
            const goodbye = traffic.waitForNotifications().then(() => transport.terminateSession());
            await Promise.race([
                // A session that cannot be ended is the server's to reap; the iteration is judged already.
                goodbye.catch(() => { }),
                clock.sleep(closeTimeoutMs, { signal: stop.signal }).catch(() => { }),
            ]);
            stop.abort();
            await client.close();
        },
    };
}
/** Settles with the promise, or rejects with the signal's own reason as soon as it aborts. */
async function raceSignal(promise, signal) {
    const aborted = Promise.withResolvers();
    const onAbort = () => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
        return await Promise.race([promise, aborted.promise]);
    }
    catch (error) {
        // The SDK rejects with a wrapped reason of its own, and may do so first.
        signal.throwIfAborted();
        throw error;
    }
    finally {
        signal.removeEventListener('abort', onAbort);
    }
}

;// CONCATENATED MODULE: ./lib/engine/target.js
var __addDisposableResource = (undefined && undefined.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var __disposeResources = (undefined && undefined.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});






/**
 * Connects to the server once, to the end of its handshake, and says which protocol it speaks.
 *
 * @throws {NetworkError} when it cannot be reached or does not answer within `timeoutMs`.
 * @throws {ProtocolError} when what answers is no MCP server of the wanted protocol.
 * @throws the signal's reason once it aborts.
 */
async function checkTarget(target, { signal, timeoutMs }) {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
        const env_1 = { stack: [], error: void 0, hasError: false };
        try {
            const session = __addDisposableResource(env_1, await openSession(target, {
                clock: clock/* systemClock */.m,
                signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
            }), true);
            return {
                protocol: session.protocol,
                protocolVersion: session.protocolVersion,
                serverName: session.server?.name ?? null,
                serverVersion: session.server?.version ?? null,
            };
        }
        catch (e_1) {
            env_1.error = e_1;
            env_1.hasError = true;
        }
        finally {
            const result_1 = __disposeResources(env_1);
            if (result_1)
                await result_1;
        }
    }
    catch (error) {
        signal?.throwIfAborted();
        // The origin alone: the path and the query of an MCP endpoint may be its key.
        const place = `The MCP server ${target.serverName} at ${new URL(target.url).origin}`;
        if (limit.aborted) {
            const message = `${place} did not complete the handshake within ${(0,deadline/* formatDuration */.a3)(timeoutMs)}.`;
            throw new errors/* NetworkError */.Dr(message, { cause: error });
        }
        if (isNetworkFailure(error)) {
            const message = `${place} could not be reached: ${describeUnreachable(error)}`;
            throw new errors/* NetworkError */.Dr((0,sentence/* endSentence */.H)(message), { cause: error });
        }
        const message = `${place} did not complete the handshake: ${describeUnreachable(error)}`;
        throw new errors/* ProtocolError */.bd((0,sentence/* endSentence */.H)(message), { cause: error });
    }
}
/** Fetch reports every failure to get a response as a TypeError, which the SDK wraps while it negotiates. */
function isNetworkFailure(error) {
    return error instanceof TypeError || (error instanceof Error && isNetworkFailure(error.cause));
}

;// CONCATENATED MODULE: ./lib/embedded/connect.js



/** How long a server may take for its handshake before a run of it is refused. */
const connectTimeoutMs = 60_000;
/**
 * Connects to each server once and returns it as the engine reaches it, by server id, with the protocol it turned out
 * to speak: the run's iterations need not find out again.
 *
 * @throws {ApiError} SERVER_UNREACHABLE naming the first one that did not answer as an MCP server does.
 */
async function connectTargets(servers) {
    const distinct = new Map(servers.map((server) => [server.id, server]));
    return new Map(await Promise.all([...distinct].map(async ([id, server]) => [id, await connect(server)])));
}
async function connect({ content }) {
    const target = {
        url: content.url ?? '',
        serverName: content.name,
        protocol: 'auto',
        ...(content.headers === undefined ? {} : { headers: content.headers }),
    };
    try {
        const { protocol } = await checkTarget(target, { timeoutMs: connectTimeoutMs });
        return { ...target, protocol };
    }
    catch (error) {
        if (!(error instanceof errors/* NetworkError */.Dr || error instanceof errors/* ProtocolError */.bd))
            throw error;
        throw new ApiError('SERVER_UNREACHABLE', (0,errors/* describeError */.Uc)(error), { cause: error });
    }
}

// EXTERNAL MODULE: ./lib/model/case.js
var model_case = __webpack_require__(6525);
;// CONCATENATED MODULE: ./lib/embedded/expand.js


/**
 * Makes of a suite's cases what the engine runs: match options layered (defaults, suite, case, run), checks resolved,
 * iterations raised to the suite's floor or replaced by the run's number. Tool calls need no model, so that the models
 * of a case do not multiply its iterations.
 *
 * @throws {ApiError} VALIDATION_ERROR for more model calls than a run may make; FEATURE_NOT_SUPPORTED for a case that
 * needs a model, or several servers at once.
 */
function expandCases(cases, options) {
    const planned = cases.map(({ id, content }) => ({
        caseId: id,
        testCase: resolveTestCase(content, options),
        server: findServer(content, options.servers),
    }));
    const totalCalls = planned.reduce((sum, { testCase }) => sum + testCase.runs * countPrompts(testCase.steps), 0);
    if (totalCalls > options.llmCallsPerRun) {
        const message = `The run would make ${totalCalls} model calls; at most ${options.llmCallsPerRun} are allowed.`;
        throw invalid(message, { totalCalls, cap: options.llmCallsPerRun });
    }
    for (const { testCase } of planned) {
        const prompt = testCase.steps.find((step) => step.kind === 'prompt');
        if (prompt === undefined)
            continue;
        throw notSupported(`Prompt steps need a model, and this service runs none: step ${JSON.stringify(prompt.id)} of case ${JSON.stringify(testCase.title)}.`);
    }
    return planned;
}
function resolveTestCase(content, options) {
    const { title, steps, expectedOutput, scenario } = content;
    const { suite, iterationOverride, iterationTimeoutMs } = options;
    const timeoutMs = Math.min(content.advancedConfig?.timeoutMs ?? iterationTimeoutMs, iterationTimeoutMs);
    return {
        title,
        steps: addImplicitRenderCheck(steps),
        runs: iterationOverride ?? Math.max(content.iterations, suite.minimumIterations ?? 1),
        ...(expectedOutput === undefined ? {} : { expectedOutput }),
        ...(scenario === undefined ? {} : { scenario }),
        isNegativeTest: content.isNegative,
        matchOptions: (0,model_case/* toInternalMatchOptions */.SM)({
            ...model_case/* defaultMatchOptions */.nk,
            ...suite.matchOptions,
            ...content.matchOptions,
            ...options.matchOptionsOverride,
        }),
        predicates: { mode: 'replace', list: resolveChecks(suite.checks, content.checks) },
        advancedConfig: { ...content.advancedConfig, timeoutMs },
    };
}
/**
 * The API takes a case of one tool call and nothing else for a widget's, which must render. So does this service,
 * although nothing can render here: a case that passed would fail there.
 */
function addImplicitRenderCheck(steps) {
    const [only, ...others] = steps;
    if (only?.kind !== 'toolCall' || others.length > 0)
        return steps;
    const assertion = { type: 'widgetRendered', toolName: only.toolName };
    return [only, { id: `${only.id}-implicit-widget-rendered`, kind: 'assert', assertion }];
}
function resolveChecks(ofSuite, ofCase) {
    switch (ofCase?.mode) {
        case 'replace':
            return ofCase.list;
        case 'extend':
            return [...ofSuite, ...ofCase.list];
        case 'inherit':
        case undefined:
            return ofSuite;
    }
}
/**
 * Holds that the run has every server that its cases name: a call of another one would end the run without a result.
 *
 * @throws {ApiError} VALIDATION_ERROR naming the first step that calls one it lacks.
 */
function requireNamedServers(cases, servers) {
    for (const { content } of cases) {
        for (const step of content.steps) {
            if (step.kind !== 'toolCall' || !isServerNamed(step) || findNamedServer(step, servers) !== undefined)
                continue;
            throw invalid(`Step ${JSON.stringify(step.id)} of case ${JSON.stringify(content.title)} calls server ${JSON.stringify(step.serverId ?? step.serverName)}, which is not among the run's servers.`);
        }
    }
}
/** The one server that a case's tool calls name; the first where none does. */
function findServer(content, servers) {
    const calls = content.steps.filter((step) => step.kind === 'toolCall');
    const named = new Set(calls.flatMap((step) => findNamedServer(step, servers) ?? []));
    if (named.size > 1) {
        throw notSupported(`Case ${JSON.stringify(content.title)} calls tools of several servers; here a case has one MCP session, with one server.`);
    }
    const [server = servers[0]] = named;
    return server;
}
/** By id before name. */
function findNamedServer({ serverId, serverName }, servers) {
    return servers.find(({ id, content: { name } }) => (serverId === undefined ? name === serverName : id === serverId));
}
function isServerNamed({ serverId, serverName }) {
    return serverId !== undefined || serverName !== '';
}
function countPrompts(steps) {
    return steps.filter(({ kind }) => kind === 'prompt').length;
}

;// CONCATENATED MODULE: ./lib/embedded/id.js

/** Makes an id that cannot be guessed or clash: the prefix tells people what it names, nothing reads it. */
function createId(prefix) {
    return `${prefix}_${(0,external_node_crypto_.randomBytes)(12).toString('hex')}`;
}

;// CONCATENATED MODULE: ./lib/embedded/idempotency.js


/** The vendor's own spellings first, of either profile; the plain one is what the API's description promises. */
const keyHeaders = ['x-svc-idempotency-key', 'x-mcpjam-idempotency-key', 'idempotency-key'];
const longestKey = 256;
/** Reads the key of a request, the body's before the headers'. A malformed one counts as absent, as in the API. */
function readIdempotencyKey(request, bodyKey) {
    const keys = [bodyKey, ...keyHeaders.map((name) => request.header(name))].map((key) => key?.trim());
    return keys.find((key) => key !== undefined && key.length > 0 && key.length <= longestKey);
}
/** Describes a keyed request; undefined where it carries no key. `body` is the request's, as it was read. */
function describeRequest(scope, key, body) {
    if (key === undefined)
        return undefined;
    return { scope, key, fingerprint: (0,external_node_crypto_.createHash)('sha256').update(JSON.stringify(body)).digest('hex') };
}
/**
 * Finds what was answered to the same request before; undefined where it is new. `answer` is what was kept.
 *
 * @throws {ApiError} CONFLICT when the key was used for something else: that answer would be somebody else's.
 */
function findAnswer(store, request, answer) {
    const found = request && store.idempotency.get(request.scope, request.key);
    if (found === undefined)
        return undefined;
    if (found.fingerprint !== request?.fingerprint) {
        throw new ApiError('CONFLICT', 'This idempotency key was used for a different request; use a new one.', {
            details: { reason: 'IDEMPOTENCY_CONFLICT' },
        });
    }
    return answer.parse(JSON.parse(found.answer));
}
/** Keeps the answer to a keyed request, in the transaction that did what was asked. */
function keepAnswer(store, request, answer) {
    if (request !== undefined)
        store.idempotency.insert({ ...request, answer: JSON.stringify(answer) });
}

;// CONCATENATED MODULE: ./lib/embedded/lookup.js

/**
 * Records by the ids of a path or a body. Each throws NOT_FOUND for what does not exist, and for what belongs to
 * another project or suite: the two must look alike.
 */
function requireProject(store, projectId) {
    const project = store.projects.get(projectId);
    if (project === undefined)
        throw notFound('Project');
    return project;
}
function requireServer(store, projectId, serverId) {
    const server = store.servers.get(projectId, serverId);
    if (server === undefined)
        throw notFound('Server');
    return server;
}
function requireSuite(store, projectId, suiteId) {
    const suite = store.suites.get(projectId, suiteId);
    if (suite === undefined)
        throw notFound('Suite');
    return suite;
}
function requireCase(store, suite, caseId) {
    const found = store.cases.get(suite.id, caseId);
    if (found === undefined)
        throw notFound('Case');
    return found;
}
/** `projectId` is undefined on the short paths, which find a run by its id alone. */
function requireRun(store, projectId, runId) {
    if (projectId !== undefined)
        requireProject(store, projectId);
    const run = store.runs.get(runId);
    if (run === undefined || (projectId !== undefined && run.projectId !== projectId))
        throw notFound('Run');
    return run;
}
/**
 * The project that a short path means: the one its body names, else the only one.
 *
 * @throws {ApiError} VALIDATION_ERROR when there are several and none is named.
 */
function requireMeantProject(store, projectId) {
    if (projectId !== undefined)
        return requireProject(store, projectId);
    const [project, ...others] = store.projects.list();
    if (project === undefined)
        throw notFound('Project');
    if (others.length > 0)
        throw invalid('projectId: Required, since the key reaches several projects');
    return project;
}

// EXTERNAL MODULE: ./node_modules/zod/v4/core/core.js
var core = __webpack_require__(8532);
;// CONCATENATED MODULE: ./lib/embedded/bodies/match-options.js


const argumentMatching = schemas/* enum */.k5n(['ignore', 'partial', 'exact']);
const internalKeys = ['maxExtraToolCalls', 'allowExtraToolCalls', 'argumentMatching'];
const internalOrders = new Set(['ignore', 'superset', 'strict']);
/** The vocabulary of suites and cases. */
const publicMatchOptionsSchema = schemas/* strictObject */.rej({
    toolCallOrder: schemas/* enum */.k5n(['any', 'in-order', 'exact']).exactOptional(),
    extraToolCalls: schemas/* union */.KCZ([schemas/* literal */.euz('unlimited'), schemas/* int */.Whr().min(0)]).exactOptional(),
    arguments: argumentMatching.exactOptional(),
});
/** The vocabulary of inline tests, read into the public one. `allowExtraToolCalls` is its older spelling of a limit. */
const internalMatchOptionsSchema = schemas/* strictObject */.rej({
    toolCallOrder: schemas/* enum */.k5n(['ignore', 'superset', 'strict']).exactOptional(),
    maxExtraToolCalls: schemas/* int */.Whr().min(0).nullable().exactOptional(),
    allowExtraToolCalls: schemas/* boolean */.zMY().exactOptional(),
    argumentMatching: argumentMatching.exactOptional(),
})
    .transform((sent) => {
    const legacyLimit = sent.allowExtraToolCalls === false ? 0 : null;
    const named = (0,model_case/* toPublicMatchOptions */.Ib)({
        toolCallOrder: sent.toolCallOrder ?? 'ignore',
        maxExtraToolCalls: sent.maxExtraToolCalls === undefined ? legacyLimit : sent.maxExtraToolCalls,
        argumentMatching: sent.argumentMatching ?? 'partial',
    });
    const limitsExtras = sent.maxExtraToolCalls !== undefined || sent.allowExtraToolCalls !== undefined;
    return {
        ...(sent.toolCallOrder === undefined ? {} : { toolCallOrder: named.toolCallOrder }),
        ...(limitsExtras ? { extraToolCalls: named.extraToolCalls } : {}),
        ...(sent.argumentMatching === undefined ? {} : { arguments: named.arguments }),
    };
});
/** Either vocabulary, as a run's override accepts; the two are disjoint, and mixing them is refused. */
const matchOptionsOverrideSchema = schemas/* looseObject */._H3({}).transform((sent, context) => {
    const isInternal = internalKeys.some((key) => key in sent) || internalOrders.has(sent['toolCallOrder']);
    const parsed = (isInternal ? internalMatchOptionsSchema : publicMatchOptionsSchema).safeParse(sent);
    if (parsed.success)
        return parsed.data;
    for (const { path, message } of parsed.error.issues)
        context.addIssue({ code: 'custom', path: [...path], message });
    return core/* NEVER */.tm;
});

;// CONCATENATED MODULE: ./lib/embedded/bodies/step.js

/**
 * A predicate: only its `type` is checked here, as the API does. The engine fails closed on an unknown type or a
 * malformed field, so the type claimed here is what it will find or refuse.
 */
const checkSchema = schemas/* custom */.IeY((value) => isObject(value) && typeof value['type'] === 'string' && !('kind' in value), 'Expected an object with a string "type" and no "kind"');
const locatorSchema = schemas/* strictObject */.rej({
    role: schemas/* strictObject */.rej({ role: schemas/* string */.YjP(), name: schemas/* string */.YjP().exactOptional(), exact: schemas/* boolean */.zMY().exactOptional() })
        .exactOptional(),
    text: schemas/* string */.YjP().exactOptional(),
    css: schemas/* string */.YjP().exactOptional(),
    testId: schemas/* string */.YjP().exactOptional(),
    nth: schemas/* int */.Whr().exactOptional(),
})
    .refine(({ role, text, css, testId }) => [role, text, css, testId].some((part) => part !== undefined), 'Expected at least one of role, text, css and testId');
const widgetAssertionSchema = schemas/* discriminatedUnion */.gMt('kind', [
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('textVisible'), toolName: schemas/* string */.YjP(), text: schemas/* string */.YjP() }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('elementVisible'), toolName: schemas/* string */.YjP(), target: locatorSchema }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('elementHidden'), toolName: schemas/* string */.YjP(), target: locatorSchema }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('inputValue'), toolName: schemas/* string */.YjP(), target: locatorSchema, equals: schemas/* string */.YjP() }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('widgetToolCalled'), toolName: schemas/* string */.YjP(), calledToolName: schemas/* string */.YjP() }),
]);
const assertionSchema = schemas/* union */.KCZ([checkSchema, widgetAssertionSchema], 'Expected a predicate, which has a "type", or a widget assertion, which has a known "kind" and its fields');
const actionSchema = schemas/* discriminatedUnion */.gMt('kind', [
    schemas/* strictObject */.rej({
        kind: schemas/* literal */.euz('click'),
        target: locatorSchema,
        clickType: schemas/* enum */.k5n(['left', 'double', 'right']).exactOptional(),
    }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('type'), target: locatorSchema, text: schemas/* string */.YjP().max(5000) }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('key'), key: schemas/* string */.YjP() }),
    schemas/* strictObject */.rej({
        kind: schemas/* literal */.euz('scroll'),
        direction: schemas/* enum */.k5n(['up', 'down']),
        amount: schemas/* number */.aig().exactOptional(),
    }),
    schemas/* strictObject */.rej({ kind: schemas/* literal */.euz('wait'), ms: schemas/* number */.aig().min(0).max(30_000) }),
]);
const id = schemas/* string */.YjP().min(1);
/** The closed step objects of a case, 1 to `stepsPerCase` of them. */
function createStepsSchema(limits) {
    const argumentsSchema = schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* unknown */.L5J())
        .refine((value) => JSON.stringify(value).length <= limits.argumentCharacters, `Expected at most ${limits.argumentCharacters} characters when serialised`);
    const stepSchema = schemas/* discriminatedUnion */.gMt('kind', [
        schemas/* strictObject */.rej({ id, kind: schemas/* literal */.euz('prompt'), prompt: schemas/* string */.YjP() }),
        schemas/* strictObject */.rej({
            id,
            kind: schemas/* literal */.euz('toolCall'),
            // Some clients name the server by id alone.
            serverName: schemas/* string */.YjP().default(''),
            serverId: schemas/* string */.YjP().exactOptional(),
            toolName: schemas/* string */.YjP().min(1),
            arguments: argumentsSchema,
            renderTimeoutMs: schemas/* number */.aig().max(120_000).exactOptional(),
        }),
        schemas/* strictObject */.rej({ id, kind: schemas/* literal */.euz('interact'), toolName: schemas/* string */.YjP(), action: actionSchema }),
        schemas/* strictObject */.rej({ id, kind: schemas/* literal */.euz('assert'), assertion: assertionSchema }),
    ]);
    return schemas/* array */.YOg(stepSchema).min(1).max(limits.stepsPerCase);
}
function isObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}

;// CONCATENATED MODULE: ./lib/embedded/bodies/suite.js



/** What a new suite says; null wherever nothing was said. */
function createSuiteContent(said) {
    return {
        name: said.name,
        description: said.description ?? null,
        serverIds: [...said.serverIds],
        model: said.model ?? null,
        minimumAccuracy: said.minimumAccuracy ?? null,
        minimumIterations: null,
        matchOptions: null,
        checks: [],
    };
}
/** Percent. No range is checked, as in the API: a client that sends 0.9 asks for 0.9 %. */
const passCriteriaSchema = schemas/* strictObject */.rej({ minimumPassRate: schemas/* number */.aig().exactOptional() });
const unread = schemas/* unknown */.L5J().exactOptional();
/** The bodies of the suite routes. */
function createSuiteSchemas(limits, tests) {
    return {
        create: schemas/* strictObject */.rej({
            name: schemas/* string */.YjP().trim().min(1),
            description: schemas/* string */.YjP().exactOptional(),
            serverIds: schemas/* array */.YOg(schemas/* string */.YjP().min(1)).min(1),
            serverNames: schemas/* array */.YOg(schemas/* string */.YjP()).exactOptional(),
            model: schemas/* string */.YjP().min(1),
            provider: schemas/* string */.YjP().exactOptional(),
            passCriteria: passCriteriaSchema.exactOptional(),
            tags: schemas/* array */.YOg(schemas/* string */.YjP()).exactOptional(),
            tests: schemas/* array */.YOg(tests.ofSuite).min(1).max(limits.testsPerRequest),
        }),
        patch: schemas/* strictObject */.rej({
            name: schemas/* string */.YjP().trim().min(1).exactOptional(),
            description: schemas/* string */.YjP().exactOptional(),
            environment: schemas/* strictObject */.rej({ servers: schemas/* array */.YOg(schemas/* string */.YjP().min(1)).exactOptional(), computerEnvironment: unread })
                .exactOptional(),
            environmentIds: unread,
            executionConfig: unread,
            hosts: unread,
            settings: schemas/* strictObject */.rej({
                minimumAccuracy: schemas/* number */.aig().min(0).max(100).exactOptional(),
                minimumIterations: schemas/* int */.Whr().min(1).max(limits.iterationsPerCase).nullable().exactOptional(),
                matchOptions: publicMatchOptionsSchema.nullable().exactOptional(),
                checks: schemas/* array */.YOg(checkSchema).nullable().exactOptional(),
                judge: unread,
            })
                .exactOptional(),
        }),
    };
}
/** Names the fields of a write that ask for what this service lacks. */
function listUnsupportedSuiteFields(patch) {
    const asked = {
        'environment.computerEnvironment': patch.environment?.computerEnvironment,
        environmentIds: patch.environmentIds,
        executionConfig: patch.executionConfig,
        hosts: patch.hosts,
        'settings.judge': patch.settings?.judge,
    };
    return Object.keys(asked).filter((key) => asked[key] !== undefined);
}

;// CONCATENATED MODULE: ./lib/embedded/store/json-column.js

/** A text column of JSON that was checked before this store wrote it; what comes out is trusted to be what went in. */
function jsonColumn() {
    return schemas/* string */.YjP()
        .transform((text) => JSON.parse(text))
        .pipe(schemas/* custom */.IeY());
}

;// CONCATENATED MODULE: ./lib/embedded/store/cases.js



const cases_select = 'select id, suite_id as suiteId, declared_id as declaredId, record as content, created_at as createdAt, updated_at as updatedAt';
const caseRow = schemas/* object */.Ikc({
    id: schemas/* string */.YjP(),
    suiteId: schemas/* string */.YjP(),
    declaredId: schemas/* string */.YjP(),
    content: jsonColumn(),
    createdAt: schemas/* number */.aig(),
    updatedAt: schemas/* number */.aig(),
});
/** Makes the record of a new case; an id that the client did not declare is minted. */
function createCaseRecord(suiteId, content, now, { declaredId = createId('c') } = {}) {
    return { id: createId('case'), suiteId, declaredId, content, createdAt: now, updatedAt: now };
}
/** The cases of suites, listed in the order they were added; declared ids are unique in their suite. */
function createCaseStore(database) {
    const insert = database.prepare(`
    insert into cases values (
      :id, :suiteId, (select coalesce(max(position) + 1, 0) from cases where suite_id = :suiteId),
      :declaredId, :record, :createdAt, :updatedAt
    )`);
    const update = database.prepare('update cases set record = :record, updated_at = :updatedAt where id = :id');
    const remove = database.prepare('delete from cases where id = ?');
    const selectOne = database.prepare(`${cases_select} from cases where suite_id = ? and id = ?`);
    const selectDeclared = database.prepare(`${cases_select} from cases where suite_id = ? and declared_id = ?`);
    const selectAll = database.prepare(`${cases_select} from cases where suite_id = ? order by position`);
    const getRow = (row) => caseRow.optional().parse(row);
    return {
        list: (suiteId) => schemas/* array */.YOg(caseRow).parse(selectAll.all(suiteId)),
        get: (suiteId, id) => getRow(selectOne.get(suiteId, id)),
        getDeclared: (suiteId, declaredId) => getRow(selectDeclared.get(suiteId, declaredId)),
        insert: ({ content, ...columns }) => {
            insert.run({ ...columns, record: JSON.stringify(content) });
        },
        update: ({ id, content, updatedAt }) => {
            update.run({ id, updatedAt, record: JSON.stringify(content) });
        },
        delete: (id) => {
            remove.run(id);
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/run-request.js





/**
 * Tells the three shapes of the body apart: `suiteId` alone runs a suite as it is; with `tests` those are written into
 * the suite (by title) and run; `suiteName`, `tests` and `serverIds` make a new suite.
 *
 * @throws {ApiError} VALIDATION_ERROR, NOT_FOUND, FEATURE_NOT_SUPPORTED.
 */
function resolveRunRequest(store, projectId, body, now) {
    refuseUnsupported(body);
    const base = body.suiteId === undefined
        ? resolveNewSuite(store, projectId, body, now)
        : resolveExistingSuite(store, projectId, { ...body, suiteId: body.suiteId }, now);
    const serverIds = body.serverIds ?? base.suite.content.serverIds;
    const [first, ...rest] = serverIds.flatMap((id) => run_request_findServer(store, projectId, id, body.serverIds !== undefined));
    if (first === undefined) {
        throw invalid('The suite has no servers saved; send serverIds.', {
            reason: 'NO_SAVED_SERVER_SELECTION',
            suiteId: base.suite.id,
        });
    }
    const cases = selectCases(base.cases, body.caseIds);
    return { ...base, cases, servers: [first, ...rest] };
}
function resolveNewSuite(store, projectId, body, now) {
    const { suiteName, suiteDescription, tests, serverIds } = body;
    if (suiteName === undefined)
        throw invalid('suiteId: Required, or else suiteName with tests and serverIds');
    if (tests === undefined)
        throw invalid('tests: Required with suiteName');
    if (serverIds === undefined)
        throw invalid('serverIds: Required with suiteName');
    const suite = {
        id: createId('ste'),
        content: createSuiteContent({ name: suiteName, description: suiteDescription, serverIds }),
    };
    const cases = tests.map((content) => createCaseRecord(suite.id, content, now));
    const write = () => {
        store.suites.insert({ ...suite, projectId, now });
        for (const record of cases)
            store.cases.insert(record);
    };
    return { suite, cases, upserted: cases, write };
}
function resolveExistingSuite(store, projectId, body, now) {
    if (body.suiteName !== undefined)
        throw invalid('suiteName: Not allowed with suiteId');
    const suite = requireSuite(store, projectId, body.suiteId);
    const existing = store.cases.list(suite.id);
    if (body.tests === undefined)
        return { suite, cases: existing, upserted: [], write: () => { } };
    // A title that stands for several cases is matched in order, each case once.
    const unmatched = [...existing];
    const upserted = body.tests.map((content) => {
        const place = unmatched.findIndex((record) => record.content.title === content.title);
        const [match] = place === -1 ? [] : unmatched.splice(place, 1);
        return match === undefined ? createCaseRecord(suite.id, content, now) : { ...match, content, updatedAt: now };
    });
    const known = new Set(existing.map(({ id }) => id));
    const write = () => {
        for (const record of upserted) {
            if (known.has(record.id))
                store.cases.update(record);
            else
                store.cases.insert(record);
        }
    };
    return { suite, cases: upserted, upserted, write };
}
function refuseUnsupported(body) {
    const asked = {
        environmentId: body.environmentId,
        namedHostId: body.namedHostId,
        refreshSnapshot: body.refreshSnapshot === true ? true : undefined,
    };
    const names = Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    if (names.length > 0)
        throw notSupported(`This service has no environments and no hosts: ${names.join(', ')}.`);
}
/** A saved id whose server is gone is passed over; one that the request names must exist. */
function run_request_findServer(store, projectId, id, isNamed) {
    const server = isNamed ? requireServer(store, projectId, id) : store.servers.get(projectId, id);
    if (server === undefined)
        return [];
    const { name, transportType, enabled, useOAuth } = server.content;
    const label = `Server ${JSON.stringify(name)}`;
    if (transportType === 'stdio') {
        throw notSupported(`${label} speaks stdio, and this service reaches servers over HTTP alone; start it behind a bridge and save its URL.`);
    }
    if (useOAuth === true)
        throw notSupported(`${label} wants OAuth, and this service cannot sign in anywhere.`);
    if (!enabled)
        throw invalid(`${label} is disabled.`);
    return [server];
}
/** Ids are the service's or the declared ones; the suite's order is kept. */
function selectCases(cases, caseIds) {
    const known = new Set(cases.flatMap(({ id, declaredId }) => [id, declaredId]));
    const unknown = caseIds?.findIndex((caseId) => !known.has(caseId)) ?? -1;
    if (unknown !== -1)
        throw notFound(`caseIds.${unknown}: Case`);
    const wanted = caseIds === undefined ? known : new Set(caseIds);
    const selected = cases.filter(({ id, declaredId }) => wanted.has(id) || wanted.has(declaredId));
    if (selected.length === 0)
        throw invalid('The suite has no cases to run.');
    return selected;
}

;// CONCATENATED MODULE: ./lib/embedded/launch.js
var launch_addDisposableResource = (undefined && undefined.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var launch_disposeResources = (undefined && undefined.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});








function createLauncher(context) {
    const { store, limits, runner } = context;
    /** Keyed launches that are not recorded yet. */
    const underWay = new Map();
    let launching = 0;
    /** A launch holds a slot too: its connection takes a while, and others may ask meanwhile. */
    const takeSlot = () => {
        if (runner.countActive() + launching >= limits.concurrentRuns) {
            throw new ApiError('RATE_LIMITED', `${limits.concurrentRuns} runs are executing; wait until one has ended.`, {
                details: { reason: 'CONCURRENT_RUN_LIMIT', maxConcurrentRuns: limits.concurrentRuns },
            });
        }
        launching += 1;
        return {
            [Symbol.dispose]: () => {
                launching -= 1;
            },
        };
    };
    const launchNew = async (launch) => {
        const env_1 = { stack: [], error: void 0, hasError: false };
        try {
            const { projectId, body } = launch;
            const found = resolveRunRequest(store, projectId, body, context.clock.now());
            const planned = expandCases(found.cases, {
                suite: found.suite.content,
                servers: found.servers,
                iterationOverride: body.iterationOverride,
                matchOptionsOverride: body.matchOptionsOverride,
                iterationTimeoutMs: context.iterationTimeoutMs,
                llmCallsPerRun: limits.llmCallsPerRun,
            });
            const _slot = launch_addDisposableResource(env_1, takeSlot(), false);
            const targets = await connectTargets(planned.map(({ server }) => server));
            // After the connection, as in the API: a server that is down is told first.
            requireNamedServers(found.cases, found.servers);
            // It may have been deleted while the servers were connected to.
            if (body.suiteId !== undefined)
                requireSuite(store, projectId, body.suiteId);
            return startRun(context, launch, { found, planned, targets });
        }
        catch (e_1) {
            env_1.error = e_1;
            env_1.hasError = true;
        }
        finally {
            launch_disposeResources(env_1);
        }
    };
    return {
        launch: async (projectId, body, key) => {
            // The project is part of the scope, wherever the request named it.
            const { idempotencyKey: _key, modelApiKeys: _modelApiKeys, projectId: _projectId, ...asked } = body;
            const subject = body.suiteId === undefined ? `name:${body.suiteName ?? ''}` : `suite:${body.suiteId}`;
            const request = describeRequest(`run:${projectId}:${subject}`, key, asked);
            if (request === undefined)
                return await launchNew({ projectId, body, request });
            const lane = JSON.stringify([request.scope, request.key]);
            // The same key twice at once: the later request waits for the earlier one and then finds its run.
            while (underWay.has(lane))
                await underWay.get(lane)?.catch(() => { });
            const answer = findAnswer(store, request, schemas/* custom */.IeY());
            if (answer !== undefined) {
                return { ...answer, status: store.runs.get(answer.runId)?.status ?? answer.status, deduped: true };
            }
            const launched = launchNew({ projectId, body, request });
            underWay.set(lane, launched);
            try {
                return await launched;
            }
            finally {
                underWay.delete(lane);
            }
        },
    };
}
/** Records a run with all its iterations, in one transaction, and sets the runner on it. */
function startRun({ store, clock, runner }, { projectId, body, request }, plan) {
    const { suite, servers, upserted } = plan.found;
    const runId = createId('run');
    const iterations = plan.planned.flatMap((planned) => expandIterations(planned, plan.targets));
    const created = {
        runId,
        suiteId: suite.id,
        status: 'running',
        caseUpsert: { committed: upserted.map(({ id, content }) => ({ id, name: content.title })), failed: [] },
        servers: servers.map(({ id, content }) => ({ id, name: content.name })),
        environment: null,
        ...(body.runGroupId === undefined ? {} : { runGroupId: body.runGroupId }),
    };
    store.transact(() => {
        plan.found.write();
        store.runs.insert({
            id: runId,
            projectId,
            suiteId: suite.id,
            minimumPassRate: body.passCriteria?.minimumPassRate ?? suite.content.minimumAccuracy ?? 100,
            notes: body.notes ?? null,
            total: iterations.length,
            now: clock.now(),
        });
        for (const [position, { id, caseId, iterationNumber, testCase }] of iterations.entries()) {
            store.iterations.insert({ runId, position, id, caseId, title: testCase.title, iterationNumber });
        }
        keepAnswer(store, request, created);
    });
    runner.start(runId, iterations);
    return created;
}
function expandIterations({ caseId, testCase, server }, targets) {
    const target = targets.get(server.id);
    if (target === undefined)
        throw new Error(`Server ${server.id} was planned for and never connected to.`);
    return Array.from({ length: testCase.runs }, (_, index) => ({
        id: createId('iter'),
        caseId,
        iterationNumber: index + 1,
        testCase,
        target,
    }));
}

;// CONCATENATED MODULE: ./lib/embedded/rate-limit.js

/**
 * Charges every request one token of a bucket that holds `burst` and refills evenly; an empty bucket answers 429 with
 * the whole seconds until the next token, 1 or more.
 */
function limitRate(clock, limit) {
    const refillMs = 60_000 / limit.perMinute;
    let tokens = limit.burst;
    let countedAtMs = clock.monotonicMs();
    return async (_context, next) => {
        const nowMs = clock.monotonicMs();
        tokens = Math.min(limit.burst, tokens + (nowMs - countedAtMs) / refillMs);
        countedAtMs = nowMs;
        if (tokens < 1) {
            const retryAfterSeconds = Math.max(1, Math.ceil(((1 - tokens) * refillMs) / 1000));
            throw new ApiError('RATE_LIMITED', `More than ${limit.perMinute} requests per minute.`, { retryAfterSeconds });
        }
        tokens -= 1;
        await next();
    };
}

;// CONCATENATED MODULE: ./lib/embedded/routes/account.js



/** There is one user and one organization: whoever holds the key. */
const me = { id: 'user_local', email: 'local@localhost', name: 'Local user', plan: 'local' };
const organizationId = 'org_local';
const projectCreateSchema = schemas/* strictObject */.rej({
    name: schemas/* string */.YjP().trim().min(1),
    description: schemas/* string */.YjP().exactOptional(),
    organizationId: schemas/* literal */.euz(organizationId).exactOptional(),
    icon: schemas/* string */.YjP().exactOptional(),
    visibility: schemas/* enum */.k5n(['public', 'private']).exactOptional(),
});
/** `/me` and `/projects`. */
function createAccountRoutes({ store, clock, readBody }) {
    const routes = new hono_dist/* Hono */.$();
    routes.get('/me', (c) => c.json(me));
    routes.get('/projects', (c) => {
        const asked = c.req.query('organizationId') ?? organizationId;
        return c.json({ items: asked === organizationId ? store.projects.list().map(renderProject) : [] });
    });
    routes.post('/projects', async (c) => {
        const { name, description, icon, visibility } = await readBody(c.req, projectCreateSchema);
        const project = {
            id: createId('prj'),
            name,
            content: { description: description ?? null, icon: icon ?? null, visibility: visibility ?? 'private' },
            now: clock.now(),
        };
        store.projects.insert(project);
        return c.json(renderProject({ ...project, createdAt: project.now, updatedAt: project.now }), 201);
    });
    return routes;
}
function renderProject({ id, name, content, createdAt, updatedAt }) {
    return { id, name, ...content, organizationId, role: 'admin', createdAt, updatedAt };
}

;// CONCATENATED MODULE: ./lib/embedded/bodies/case.js



/** What a client may call a case; checked apart from the rest, because a batch reports it under a code of its own. */
const declaredIdPattern = /^[A-Za-z0-9_-]{1,128}$/;
const declaredIdRule = 'Expected 1 to 128 of A-Z, a-z, 0-9, _ and -';
const caseModelSchema = schemas/* strictObject */.rej({ model: schemas/* string */.YjP().min(1), provider: schemas/* string */.YjP().exactOptional() });
/** An envelope without a mode means its own list where it has one: dropping checks in silence would pass too much. */
const checksSchema = schemas/* strictObject */.rej({
    mode: schemas/* enum */.k5n(['inherit', 'replace', 'extend']).exactOptional(),
    list: schemas/* array */.YOg(checkSchema).exactOptional(),
})
    .transform(({ mode, list }) => ({ mode: mode ?? (list === undefined ? 'inherit' : 'replace'), list: list ?? [] }));
/** Open, as on the wire; the keys that are read here must be right. */
const advancedConfigSchema = schemas/* looseObject */._H3({
    system: schemas/* string */.YjP().exactOptional(),
    temperature: schemas/* number */.aig().exactOptional(),
    toolChoice: schemas/* union */.KCZ([schemas/* enum */.k5n(['auto', 'none', 'required']), schemas/* strictObject */.rej({ type: schemas/* literal */.euz('tool'), toolName: schemas/* string */.YjP() })])
        .exactOptional(),
    failOnToolError: schemas/* boolean */.zMY().exactOptional(),
    timeoutMs: schemas/* number */.aig().positive().exactOptional(),
});
/** The bodies of the case routes, in the vocabulary that cases are read and written in. */
function createCaseSchemas(limits) {
    const fields = {
        title: schemas/* string */.YjP().min(1),
        steps: createStepsSchema(limits),
        expectedOutput: schemas/* string */.YjP().exactOptional(),
        iterations: schemas/* int */.Whr().min(1).max(limits.iterationsPerCase).exactOptional(),
        isNegative: schemas/* boolean */.zMY().exactOptional(),
        scenario: schemas/* string */.YjP().exactOptional(),
        models: schemas/* array */.YOg(caseModelSchema).exactOptional(),
        matchOptions: publicMatchOptionsSchema.nullable().exactOptional(),
        checks: checksSchema.nullable().exactOptional(),
    };
    const id = schemas/* string */.YjP().regex(declaredIdPattern, declaredIdRule);
    return {
        create: schemas/* strictObject */.rej({ id: id.exactOptional(), ...fields }),
        patch: schemas/* strictObject */.rej({ ...fields, title: fields.title.exactOptional(), steps: fields.steps.exactOptional() }),
    };
}
/** Reads a new case's fields, with the API's defaults for the absent ones. The declared id is not content. */
function toCaseContent({ id: _id, title, steps, ...optional }) {
    return patchCaseContent({ title, steps, iterations: 1, isNegative: false, models: [] }, optional);
}
/** Applies a write to what a case says already; `null` takes its match options or checks away. */
function patchCaseContent(before, patch) {
    const { matchOptions, checks, ...fields } = patch;
    const after = { ...before, ...fields };
    if (matchOptions === null)
        delete after.matchOptions;
    else if (matchOptions !== undefined)
        after.matchOptions = matchOptions;
    if (checks === null)
        delete after.checks;
    else if (checks !== undefined)
        after.checks = checks;
    return after;
}
/** Inline tests, which name the same things differently and match options in the other vocabulary. */
function createTestSchemas(limits) {
    const fields = {
        title: schemas/* string */.YjP().min(1),
        steps: createStepsSchema(limits),
        expectedOutput: schemas/* string */.YjP().exactOptional(),
        isNegativeTest: schemas/* boolean */.zMY().exactOptional(),
        scenario: schemas/* string */.YjP().exactOptional(),
        matchOptions: internalMatchOptionsSchema.exactOptional(),
        predicates: checksSchema.exactOptional(),
        advancedConfig: advancedConfigSchema.exactOptional(),
    };
    const runs = schemas/* int */.Whr().min(1).max(limits.iterationsPerCase);
    const name = schemas/* string */.YjP().min(1);
    return {
        ofSuite: schemas/* strictObject */.rej({ ...fields, runs: runs.default(1), model: name.exactOptional(), provider: name.exactOptional() })
            .transform(toContent),
        ofRun: schemas/* strictObject */.rej({ ...fields, runs, model: name, provider: name }).transform(toContent),
    };
}
function toContent(test) {
    const { runs, isNegativeTest, predicates, model, provider, ...shared } = test;
    return {
        ...shared,
        iterations: runs,
        isNegative: isNegativeTest ?? false,
        models: model === undefined ? [] : [{ model, ...(provider === undefined ? {} : { provider }) }],
        ...(predicates === undefined ? {} : { checks: predicates }),
    };
}

;// CONCATENATED MODULE: ./lib/embedded/bodies/read.js

/**
 * Makes the reader of a service. It throws VALIDATION_ERROR that tells the first problem as `path.to.field: message`,
 * and for a body of more than `maxBytes`.
 */
function createBodyReader(maxBytes) {
    return async (request, schema) => {
        const text = await readText(request, maxBytes);
        return parseBody(text.trim() === '' ? {} : parseJson(text), schema);
    };
}
/** Checks a value that was read already. @throws {ApiError} VALIDATION_ERROR. */
function parseBody(value, schema) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw invalid('The request body must be a JSON object.');
    }
    const parsed = schema.safeParse(value);
    if (parsed.success)
        return parsed.data;
    throw invalid(renderFirstIssue(parsed.error));
}
function renderFirstIssue(error) {
    const [issue] = error.issues;
    if (issue === undefined)
        return 'The request body is not valid.';
    return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
function parseJson(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        // The parser's own message quotes the body, which may hold secrets.
        throw invalid('The request body is not valid JSON.');
    }
}
/** Counts what arrives and not what Content-Length says, which a chunked body does not have. */
async function readText(request, maxBytes) {
    const chunks = [];
    let length = 0;
    for await (const chunk of request.raw.body ?? []) {
        length += chunk.byteLength;
        // Read to its end, though not kept: a client that is still sending when the answer comes may never see it.
        if (length > maxBytes)
            chunks.length = 0;
        else
            chunks.push(chunk);
    }
    if (length > maxBytes)
        throw invalid(`The request body is larger than ${maxBytes} bytes.`);
    return Buffer.concat(chunks).toString();
}

;// CONCATENATED MODULE: ./lib/embedded/routes/case-batch.js








const policies = ['block', 'warn', 'create_anyway'];
/**
 * Many cases at once, each on its own: what cannot be created is reported beside what was, and the answer is 201 either
 * way. Two cases are duplicates when they say the same, whatever they are called.
 */
function createCaseBatchRoutes({ store, clock, limits, bodies, readBody }) {
    const routes = new hono_dist/* Hono */.$();
    const batchSchema = schemas/* strictObject */.rej({
        cases: schemas/* array */.YOg(schemas/* unknown */.L5J()).min(1).max(limits.testsPerRequest),
        /** An unknown one is not refused but read as `block`, and the answer says so. */
        duplicatePolicy: schemas/* string */.YjP().exactOptional(),
        overrideReason: schemas/* string */.YjP().min(1).exactOptional(),
    });
    routes.post('/projects/:projectId/eval-suites/:suiteId/cases/batch', async (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const suite = requireSuite(store, project.id, c.req.param('suiteId'));
        const body = await readBody(c.req, batchSchema);
        const duplicatePolicy = readPolicy(body.duplicatePolicy);
        if (duplicatePolicy.effectivePolicy === 'create_anyway' && body.overrideReason === undefined) {
            throw invalid('overrideReason: Required with create_anyway', { reason: 'OVERRIDE_REASON_REQUIRED' });
        }
        const request = describeRequest(`cases:${suite.id}`, readIdempotencyKey(c.req), body);
        const answered = findAnswer(store, request, schemas/* custom */.IeY());
        if (answered !== undefined) {
            return c.json({ ...answered, created: answered.created.map((item) => ({ ...item, replayed: true })) }, 201);
        }
        const answer = { created: [], failed: [], duplicatePolicy };
        const known = new KnownCases(store.cases.list(suite.id));
        store.transact(() => {
            for (const [index, item] of body.cases.entries()) {
                const read = readItem(item, bodies.cases.create);
                if ('code' in read) {
                    answer.failed.push({ index, ...read });
                    continue;
                }
                const { content, declaredId } = read;
                const refusal = known.refuse(content, declaredId, duplicatePolicy.effectivePolicy);
                const { title } = content;
                if (refusal !== undefined) {
                    answer.failed.push({ index, title, ...(declaredId === undefined ? {} : { declaredId }), ...refusal });
                    continue;
                }
                const warnings = known.hasContent(content) ? ['Another case of the suite says the same.'] : [];
                const record = createCaseRecord(suite.id, content, clock.now(), { declaredId });
                store.cases.insert(record);
                known.add(record);
                const created = { index, id: record.id, declaredId: record.declaredId, title, replayed: false };
                answer.created.push(warnings.length === 0 ? created : { ...created, warnings });
            }
            keepAnswer(store, request, answer);
        });
        return c.json(answer, 201);
    });
    return routes;
}
/** What a suite holds already, the batch's earlier items included. */
class KnownCases {
    #declaredIds = new Set();
    #contents = new Set();
    constructor(records) {
        for (const record of records)
            this.add(record);
    }
    add({ declaredId, content }) {
        this.#declaredIds.add(declaredId);
        this.#contents.add(JSON.stringify(content));
    }
    hasContent(content) {
        return this.#contents.has(JSON.stringify(content));
    }
    refuse(content, declaredId, policy) {
        if (declaredId !== undefined && this.#declaredIds.has(declaredId)) {
            return {
                code: 'DUPLICATE_CASE_ID',
                message: `The suite has a case with id ${JSON.stringify(declaredId)} already.`,
            };
        }
        if (policy === 'block' && this.hasContent(content)) {
            return { code: 'DUPLICATE_CONTENT', message: 'Another case of the suite says the same.' };
        }
        return undefined;
    }
}
function readPolicy(requested) {
    if (requested === undefined)
        return { effectivePolicy: 'block', coerced: false };
    const known = policies.find((policy) => policy === requested);
    return { requestedPolicy: requested, effectivePolicy: known ?? 'block', coerced: known === undefined };
}
function readItem(item, schema) {
    const named = schemas/* looseObject */._H3({ title: schemas/* unknown */.L5J().optional(), id: schemas/* unknown */.L5J().optional() }).safeParse(item);
    if (!named.success)
        return { code: 'INVALID_ITEM', message: 'Expected an object.' };
    const { title, id } = named.data;
    const label = {
        ...(typeof title === 'string' ? { title } : {}),
        ...(typeof id === 'string' ? { declaredId: id } : {}),
    };
    if (id !== undefined && !(typeof id === 'string' && declaredIdPattern.test(id))) {
        return { ...label, code: 'INVALID_CASE_ID', message: 'id: Expected 1 to 128 of A-Z, a-z, 0-9, _ and -' };
    }
    const parsed = schema.safeParse(item);
    if (!parsed.success)
        return { ...label, code: 'INVALID_CASE', message: renderFirstIssue(parsed.error) };
    return { content: toCaseContent(parsed.data), declaredId: parsed.data.id };
}

;// CONCATENATED MODULE: ./lib/embedded/routes/cases.js






const list = '/projects/:projectId/eval-suites/:suiteId/cases';
const one = `${list}/:caseId`;
/** Single cases of a suite. */
function createCaseRoutes({ store, clock, bodies, readBody }) {
    const routes = new hono_dist/* Hono */.$();
    const findSuite = ({ projectId, suiteId }) => requireSuite(store, requireProject(store, projectId).id, suiteId);
    routes.get(list, (c) => c.json({ items: store.cases.list(findSuite(c.req.param()).id).map(renderCase) }));
    routes.post(list, async (c) => {
        const suite = findSuite(c.req.param());
        const body = await readBody(c.req, bodies.cases.create);
        if (body.id !== undefined && store.cases.getDeclared(suite.id, body.id) !== undefined) {
            throw new ApiError('CONFLICT', `The suite has a case with id ${JSON.stringify(body.id)} already.`, {
                details: { reason: 'DUPLICATE_CASE_ID' },
            });
        }
        const record = createCaseRecord(suite.id, toCaseContent(body), clock.now(), { declaredId: body.id });
        store.cases.insert(record);
        return c.json(renderCase(record), 201);
    });
    routes.get(one, (c) => c.json(renderCase(requireCase(store, findSuite(c.req.param()), c.req.param('caseId')))));
    routes.patch(one, async (c) => {
        const before = requireCase(store, findSuite(c.req.param()), c.req.param('caseId'));
        const patch = await readBody(c.req, bodies.cases.patch);
        const after = { ...before, content: patchCaseContent(before.content, patch), updatedAt: clock.now() };
        store.cases.update(after);
        return c.json(renderCase(after));
    });
    routes.delete(one, (c) => {
        const { id } = requireCase(store, findSuite(c.req.param()), c.req.param('caseId'));
        store.cases.delete(id);
        return c.json({ id, deleted: true });
    });
    return routes;
}
/** A case in the vocabulary of cases. What only inline tests can set is not shown. */
function renderCase({ id, declaredId, content, createdAt, updatedAt }) {
    const { advancedConfig: _advancedConfig, matchOptions, ...shown } = content;
    return {
        id,
        declaredId,
        ...shown,
        ...(matchOptions === undefined ? {} : { matchOptions: { ...model_case/* defaultMatchOptions */.nk, ...matchOptions } }),
        createdAt,
        updatedAt,
    };
}

;// CONCATENATED MODULE: ./lib/embedded/page.js

/** Reads `limit`, never refused: it is clamped to 1..`max`, a fraction cut off, and what is no number is `standard`. */
function readLimit(request, { max, standard }) {
    const text = request.query('limit');
    const limit = Number.parseFloat(text ?? '');
    return Number.isNaN(limit) ? standard : Math.min(Math.max(Math.trunc(limit), 1), max);
}
/** Makes the cursor behind a position of a list. `list` says which one, so that no cursor fits another. */
function renderCursor(list, position) {
    return Buffer.from(`${list}:${position}`).toString('base64url');
}
/**
 * Reads the position that `cursor` stands behind; −1, before the first, where there is none.
 *
 * @throws {ApiError} VALIDATION_ERROR for a cursor that this list never gave.
 */
function readCursor(request, list) {
    const cursor = request.query('cursor');
    if (cursor === undefined || cursor === '')
        return -1;
    const position = /^(?<list>.*):(?<position>\d{1,9})$/s.exec(Buffer.from(cursor, 'base64url').toString())?.groups;
    if (position?.['list'] !== list || renderCursor(list, Number(position['position'])) !== cursor) {
        throw invalid('cursor: Not a cursor of this list');
    }
    return Number(position['position']);
}

;// CONCATENATED MODULE: ./lib/embedded/routes/run-view.js
/** A run as it is read; `notes` end with why a run has no result, since the API has no other field for that. */
function renderRun(run) {
    const { id, suiteId, runNumber, status, result, createdAt, completedAt } = run;
    const notes = [run.notes, run.failure].filter((note) => note !== null).join('\n');
    return {
        id,
        suiteId,
        runNumber,
        status,
        result,
        summary: renderSummary(run),
        source: 'api',
        notes: notes === '' ? null : notes,
        environment: null,
        scoreIntegrity: null,
        createdAt,
        completedAt,
    };
}
/** `total` counts what was planned, so that a run that was cut short shows it. */
function renderSummary({ total, passed, failed }) {
    return { total, passed, failed, passRate: passed / total };
}
/** An iteration as it is read. No model took part in any of them. */
function renderIteration(iteration) {
    const { id, caseId, title, iterationNumber, status, result, startedAt, durationMs, toolCalls, error } = iteration;
    return {
        id,
        testCaseId: caseId,
        title,
        iterationNumber,
        status,
        result,
        model: null,
        provider: null,
        startedAt,
        durationMs,
        tokensUsed: null,
        usage: null,
        actualToolCalls: toolCalls?.actual ?? [],
        expectedToolCalls: toolCalls?.expected ?? [],
        error,
    };
}

;// CONCATENATED MODULE: ./lib/embedded/routes/runs.js






/**
 * Runs and what is below them; mounted once below a project and once at the top, where the project is the one that the
 * body names or the only one, and a run is found by its id alone.
 */
function createRunRoutes({ store, runner, bodies, readBody }, launcher) {
    const routes = new hono_dist/* Hono */.$();
    const findRun = (params) => requireRun(store, params['projectId'], params['runId'] ?? '');
    routes.post('/', async (c) => {
        const projectId = c.req.param('projectId');
        // Before the body, so that a wrong project is told first, as everywhere.
        const named = projectId === undefined ? undefined : requireProject(store, projectId);
        const body = await readBody(c.req, bodies.run);
        const project = named ?? requireMeantProject(store, body.projectId);
        const key = readIdempotencyKey(c.req, body.idempotencyKey);
        return c.json(await launcher.launch(project.id, body, key), 202);
    });
    routes.get('/:runId', (c) => c.json(renderRun(findRun(c.req.param()))));
    routes.post('/:runId/cancel', (c) => {
        const run = findRun(c.req.param());
        if (run.status === 'running')
            runner.cancel(run.id);
        else if (run.status !== 'cancelled') {
            throw new ApiError('CONFLICT', `The run has ended already: it is ${run.status}.`);
        }
        return c.json(renderRun(findRun(c.req.param())));
    });
    routes.get('/:runId/iterations', (c) => {
        const run = findRun(c.req.param());
        const limit = readLimit(c.req, { max: 200, standard: 50 });
        const found = store.iterations.list(run.id, readCursor(c.req, run.id), limit + 1);
        const page = found.slice(0, limit);
        const last = page.at(-1);
        return c.json({
            items: page.map(renderIteration),
            ...(found.length > limit && last !== undefined ? { nextCursor: renderCursor(run.id, last.position) } : {}),
        });
    });
    routes.get('/:runId/iterations/:iterationId/steps', (c) => {
        const run = findRun(c.req.param());
        const items = store.iterations.getSteps(run.id, c.req.param('iterationId'));
        if (items === undefined)
            throw notFound('Iteration');
        return c.json({ items });
    });
    routes.get('/:runId/iterations/:iterationId/trace', (c) => {
        const run = findRun(c.req.param());
        const iterationId = c.req.param('iterationId');
        if (store.iterations.getSteps(run.id, iterationId) === undefined)
            throw notFound('Iteration');
        const trace = store.iterations.getTrace(run.id, iterationId);
        if (trace === undefined) {
            throw new ApiError('NOT_FOUND', 'The iteration has no trace.', { details: { reason: 'TRACE_NOT_AVAILABLE' } });
        }
        return c.body(trace, 200, { 'content-type': 'application/json' });
    });
    return routes;
}

;// CONCATENATED MODULE: ./lib/embedded/bodies/server.js

const server_text = schemas/* string */.YjP().exactOptional();
const flag = schemas/* boolean */.zMY().exactOptional();
const httpUrl = schemas/* string */.YjP().refine(isHttpUrl, 'Expected an http or https URL');
/** Everything but the OAuth settings is read here; those are kept, and a run of such a server is refused. */
const fields = {
    name: schemas/* string */.YjP().trim().min(1),
    enabled: schemas/* boolean */.zMY(),
    transportType: schemas/* enum */.k5n(['stdio', 'http']),
    command: server_text,
    args: schemas/* array */.YOg(schemas/* string */.YjP()).exactOptional(),
    env: schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* string */.YjP()).exactOptional(),
    url: httpUrl.exactOptional(),
    headers: schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* string */.YjP()).exactOptional(),
    hasBearerToken: flag,
    timeout: schemas/* number */.aig().exactOptional(),
    clientCapabilities: schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* unknown */.L5J()).exactOptional(),
    useOAuth: flag,
    oauthScopes: schemas/* array */.YOg(schemas/* string */.YjP()).exactOptional(),
    clientId: server_text,
    oauthResourceUrl: server_text,
    oauthProtocolMode: server_text,
    oauthProtocolVersion: server_text,
    oauthRegistrationStrategy: server_text,
    xaaAuthzIssuer: server_text,
    xaaAllowPathScopedIssuer: flag,
    oauthAllowPathScopedIssuer: flag,
    useXaa: flag,
    authServerMode: schemas/* enum */.k5n(['mcpjam', 'own']).exactOptional(),
    xaaSubject: server_text,
    xaaEmail: server_text,
    xaaIdentityAssertionFormat: server_text,
    xaaClientAuth: server_text,
    authMethod: server_text,
    registrationMode: server_text,
    clientSecret: server_text,
};
/** What a server record says. URL and headers may hold secrets: nothing here is ever logged. */
const serverContentSchema = schemas/* strictObject */.rej(fields);
const serverCreateSchema = serverContentSchema.superRefine((server, context) => {
    const needed = server.transportType === 'http' ? 'url' : 'command';
    if (server[needed] === undefined) {
        context.addIssue({
            code: 'custom',
            path: [needed],
            message: `Required where transportType is ${server.transportType}`,
        });
    }
});
const serverPatchSchema = schemas/* strictObject */.rej({
    ...fields,
    name: fields.name.exactOptional(),
    enabled: fields.enabled.exactOptional(),
    transportType: fields.transportType.exactOptional(),
    clearClientSecret: flag,
    clearXaaConfig: flag,
});
/** Applies a write to a server record. */
function patchServerContent(before, patch) {
    const { clearClientSecret, clearXaaConfig, ...changes } = patch;
    const after = { ...before, ...changes };
    if (clearClientSecret === true)
        delete after.clientSecret;
    if (clearXaaConfig === true) {
        for (const key of xaaKeys)
            delete after[key];
    }
    return after;
}
const xaaKeys = [
    'useXaa',
    'xaaAuthzIssuer',
    'xaaAllowPathScopedIssuer',
    'xaaSubject',
    'xaaEmail',
    'xaaIdentityAssertionFormat',
    'xaaClientAuth',
];
function isHttpUrl(text) {
    const url = URL.parse(text);
    return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}

;// CONCATENATED MODULE: ./lib/embedded/routes/servers.js







const servers_list = '/projects/:projectId/servers';
const servers_one = `${servers_list}/:serverId`;
/** Server records. They keep what they are given; connecting is the business of runs. */
function createServerRoutes({ store, clock, readBody, relay }) {
    const routes = new hono_dist/* Hono */.$();
    /** @throws {ApiError} CONFLICT when another server of the project has the name. */
    const requireFreeName = (projectId, name, ownId) => {
        const holder = store.servers.getByName(projectId, name);
        if (holder === undefined || holder.id === ownId)
            return;
        throw new ApiError('CONFLICT', `The project has a server named ${JSON.stringify(name)} already.`);
    };
    routes.get(servers_list, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        return c.json({ items: store.servers.list(project.id).map(renderServer) });
    });
    routes.post(servers_list, async (c) => {
        const projectId = requireProject(store, c.req.param('projectId')).id;
        const content = await readBody(c.req, serverCreateSchema);
        requireFreeName(projectId, content.name);
        const server = { id: createId('srv'), projectId, content, now: clock.now() };
        store.servers.insert(server);
        return c.json(renderServer({ ...server, createdAt: server.now, updatedAt: server.now }), 201);
    });
    routes.get(servers_one, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        return c.json(renderServer(requireServer(store, project.id, c.req.param('serverId'))));
    });
    routes.patch(servers_one, async (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const before = requireServer(store, project.id, c.req.param('serverId'));
        const patch = await readBody(c.req, serverPatchSchema);
        const content = parseBody(patchServerContent(before.content, patch), serverCreateSchema);
        requireFreeName(project.id, content.name, before.id);
        const now = clock.now();
        store.servers.update({ id: before.id, content, now });
        return c.json(renderServer({ ...before, content, updatedAt: now }));
    });
    routes.delete(servers_one, async (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const server = requireServer(store, project.id, c.req.param('serverId'));
        await readBody(c.req, schemas/* strictObject */.rej({}));
        store.servers.delete(server.id);
        relay.revoke(server.id);
        return c.json({ id: server.id, deleted: true });
    });
    return routes;
}
/** Headers, arguments, environment and the client secret are never read back. */
function renderServer({ id, projectId, content, createdAt, updatedAt }) {
    const { name, enabled, transportType, url, useOAuth, oauthScopes, clientSecret } = content;
    return {
        id,
        projectId,
        name,
        enabled,
        transportType,
        url: transportType === 'stdio' ? null : (url ?? null),
        useOAuth: useOAuth ?? false,
        hasClientSecret: clientSecret !== undefined,
        ...(oauthScopes === undefined ? {} : { oauthScopes }),
        createdAt,
        updatedAt,
    };
}

;// CONCATENATED MODULE: ./lib/embedded/routes/suites.js











const suites_list = '/projects/:projectId/eval-suites';
const suites_one = `${suites_list}/:suiteId`;
/** Suites, apart from their cases. */
function createSuiteRoutes({ store, clock, bodies, readBody }) {
    const routes = new hono_dist/* Hono */.$();
    routes.get(suites_list, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        return c.json({ items: store.suites.list(project.id).map((suite) => renderSuiteSummary(store, suite)) });
    });
    routes.post(suites_list, async (c) => {
        const projectId = requireProject(store, c.req.param('projectId')).id;
        const body = await readBody(c.req, bodies.suites.create);
        const request = describeRequest(`suite:${projectId}`, readIdempotencyKey(c.req), body);
        const answered = findAnswer(store, request, schemas/* looseObject */._H3({}));
        if (answered !== undefined)
            return c.json(answered, 201);
        const servers = body.serverIds.map((serverId) => requireServer(store, projectId, serverId));
        const content = createSuiteContent({ ...body, minimumAccuracy: body.passCriteria?.minimumPassRate });
        const now = clock.now();
        const suite = { id: createId('ste'), projectId, content, now };
        const cases = body.tests.map((test) => createCaseRecord(suite.id, test, now));
        const answer = {
            suiteId: suite.id,
            name: content.name,
            servers: servers.map((server) => ({ id: server.id, name: server.content.name })),
            caseUpsert: { committed: cases.map(({ id, content: { title } }) => ({ id, name: title })), failed: [] },
        };
        store.transact(() => {
            store.suites.insert(suite);
            for (const record of cases)
                store.cases.insert(record);
            keepAnswer(store, request, answer);
        });
        return c.json(answer, 201);
    });
    routes.get(suites_one, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        return c.json(renderSuiteDetail(requireSuite(store, project.id, c.req.param('suiteId'))));
    });
    routes.patch(suites_one, async (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const before = requireSuite(store, project.id, c.req.param('suiteId'));
        const patch = await readBody(c.req, bodies.suites.patch);
        const unsupported = listUnsupportedSuiteFields(patch);
        if (unsupported.length > 0) {
            throw notSupported(`This service runs suites without environments, hosts or models: ${unsupported.join(', ')}.`);
        }
        const serverIds = patch.environment?.servers?.map((server) => findServerId(store, project.id, server));
        const content = patchSuiteContent(before.content, patch, serverIds);
        const now = clock.now();
        store.suites.update({ id: before.id, content, now });
        return c.json(renderSuiteDetail({ ...before, content, updatedAt: now }));
    });
    routes.delete(suites_one, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const suite = requireSuite(store, project.id, c.req.param('suiteId'));
        store.suites.delete(suite.id);
        return c.json({ id: suite.id, deleted: true });
    });
    routes.get(`${suites_one}/runs`, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const suite = requireSuite(store, project.id, c.req.param('suiteId'));
        const limit = readLimit(c.req, { max: 100, standard: 25 });
        return c.json({ items: store.runs.listOfSuite(suite.id, limit).map(renderRun) });
    });
    return routes;
}
function patchSuiteContent(before, patch, serverIds = before.serverIds) {
    const { name, description, settings = {} } = patch;
    return {
        ...before,
        name: name ?? before.name,
        description: description ?? before.description,
        serverIds,
        minimumAccuracy: settings.minimumAccuracy ?? before.minimumAccuracy,
        minimumIterations: settings.minimumIterations === undefined ? before.minimumIterations : settings.minimumIterations,
        matchOptions: settings.matchOptions === undefined ? before.matchOptions : settings.matchOptions,
        checks: settings.checks === undefined ? before.checks : (settings.checks ?? []),
    };
}
/** A suite's environment names servers by id or by name, both of which the API's answers do. */
function findServerId(store, projectId, idOrName) {
    const server = store.servers.get(projectId, idOrName) ?? store.servers.getByName(projectId, idOrName);
    if (server === undefined)
        throw notFound(`Server ${JSON.stringify(idOrName)}`);
    return server.id;
}
function renderSuiteSummary(store, { id, projectId, content, createdAt, updatedAt }) {
    const [latest] = store.runs.listOfSuite(id, 1);
    const summary = latest && renderSummary(latest);
    return {
        id,
        name: content.name,
        projectId,
        createdAt,
        updatedAt,
        latestRun: latest === undefined
            ? null
            : { id: latest.id, status: latest.status, ...summary, total: undefined, createdAt: latest.createdAt },
        totals: store.runs.getTotals(id),
        passRateTrend: store.runs.listPassRates(id),
    };
}
function renderSuiteDetail({ id, projectId, content, createdAt, updatedAt }) {
    const { name, description, serverIds, model, minimumAccuracy, minimumIterations, matchOptions, checks } = content;
    return {
        id,
        name,
        description,
        projectId,
        environment: { servers: serverIds, computerEnvironment: null },
        executionConfig: model === null ? null : { model },
        hosts: [],
        environmentIds: [],
        settings: {
            minimumAccuracy,
            minimumIterations,
            matchOptions: matchOptions && { ...model_case/* defaultMatchOptions */.nk, ...matchOptions },
            checks,
            judge: { enabled: false },
        },
        schedule: { enabled: false, intervalMinutes: null, environmentId: null },
        createdAt,
        updatedAt,
    };
}

;// CONCATENATED MODULE: ./lib/tunnel/scope.js
/** Where the relay serves a project's servers, each below its id. */
const relayPath = '/api/mcp/adapter-http/';
/**
 * Maps `/api/mcp/adapter-http/<serverId>` and what is below it onto the path of `target`. The target's own query comes
 * first, the caller's after it without the relay's secret `k`. A path that could mean another place after some server has
 * normalised it is out of scope.
 */
function createPathMap(serverId, target) {
    const scope = `${relayPath}${encodeURIComponent(serverId)}`;
    const base = target.pathname.replace(/\/+$/, '');
    const ownQuery = target.search.slice(1);
    return (url) => {
        const [path = '', ...rest] = url.split('?');
        if (path !== scope && !path.startsWith(`${scope}/`))
            return null;
        const remainder = path.slice(scope.length);
        if (!isPlainPath(remainder))
            return null;
        const query = [ownQuery, dropSecret(rest.join('?'))].filter((part) => part !== '').join('&');
        const mapped = `${base}${remainder}`;
        return `${mapped === '' ? '/' : mapped}${query === '' ? '' : `?${query}`}`;
    };
}
/** Whether a path has no segment that is dropped or split by servers, in any spelling, and no fragment. */
function isPlainPath(path) {
    return !/[\\#;]|\/\/|%(?:2e|2f|5c|25|0|1)|(?:^|\/)\.{1,2}(?:\/|$)/i.test(path);
}
function dropSecret(query) {
    return query
        .split('&')
        .filter((pair) => decodeName(pair.split('=')[0] ?? '') !== 'k')
        .join('&');
}
function decodeName(name) {
    try {
        return decodeURIComponent(name);
    }
    catch {
        return name;
    }
}

// EXTERNAL MODULE: ./node_modules/ws/wrapper.mjs
var wrapper = __webpack_require__(2977);
;// CONCATENATED MODULE: ./lib/tunnel/heartbeat.js
/** Unanswered pings after which a peer is taken for gone. */
const patience = 2;
/**
 * Pings a peer every `intervalMs` and drops the connection at the third ping when the two before it had no answer: a
 * connection that was lost without a word shows in no other way. Ends with the socket or the signal.
 */
async function keepAlive(socket, options) {
    const { clock, intervalMs, isHeld, signal } = options;
    let unanswered = 0;
    const hear = () => {
        unanswered = 0;
    };
    socket.on('pong', hear).on('message', hear);
    while (!signal.aborted && socket.readyState === socket.OPEN) {
        await clock.sleep(intervalMs, { signal }).catch(() => { });
        if (signal.aborted || socket.readyState !== socket.OPEN)
            return;
        // While we do not read, the answers wait in the socket.
        if (isHeld())
            unanswered = 0;
        else if (unanswered >= patience)
            return socket.terminate();
        unanswered += 1;
        socket.ping();
    }
}

;// CONCATENATED MODULE: ./lib/tunnel/headers.js
/** RFC 9110 §5.6.2, token. */
const namePattern = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
/** RFC 9110 §5.5, field-value: no line breaks and no other control characters but the tab. */
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Whether a value that came over the wire can be sent on as header fields. */
function isHeaderList(value) {
    return Array.isArray(value) && value.every(isHeader);
}
function isHeader(value) {
    if (!Array.isArray(value) || value.length !== 2)
        return false;
    const [name, text] = value;
    return typeof name === 'string' && typeof text === 'string' && namePattern.test(name) && valuePattern.test(text);
}
/** Fields that speak about one connection, RFC 9110 §7.6.1, so that they end where it ends. */
const hopByHop = new Set([
    'connection',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
]);
/** Takes out the fields of the hop that a message came over, and those that its Connection field names. */
function dropHopByHop(headers) {
    const named = new Set();
    for (const [name, value] of headers) {
        if (name.toLowerCase() !== 'connection')
            continue;
        for (const option of value.split(','))
            named.add(option.trim().toLowerCase());
    }
    return headers.filter(([name]) => {
        const key = name.toLowerCase();
        return !hopByHop.has(key) && !named.has(key);
    });
}
/** The first value of a field, or undefined; `name` in lower case. */
function findHeader(headers, name) {
    return headers.find(([other]) => other.toLowerCase() === name)?.[1];
}
/** Pairs up the flat list in which HTTP parsers hand over header fields. */
function pairHeaders(raw) {
    return Array.from({ length: raw.length >> 1 }, (_, index) => [raw[index * 2] ?? '', raw[index * 2 + 1] ?? '']);
}

;// CONCATENATED MODULE: ./lib/tunnel/frames.js


/** What the relay allows a host. Defaults are the values seen in use; a relay may announce others. */
const limitsSchema = schemas/* object */.Ikc({
    /** Bytes of one request's body. */
    maxReqBody: schemas/* number */.aig().positive().catch(10_485_760),
    /** Bytes of body in one binary frame. */
    chunk: schemas/* int */.Whr().positive().max(16_777_216).catch(65_536),
    /** Requests under way at once. */
    maxInflight: schemas/* number */.aig().positive().catch(32),
});
const frames_id = schemas/* int */.Whr().min(0).max(0xffff_ffff);
const headers = schemas/* custom */.IeY(isHeaderList);
/** Why a request ended early. */
const abortCodes = ['timeout', 'too_large', 'client_gone', 'upstream_error', 'overloaded'];
/**
 * The text frames of the relay protocol, version 1. `window` frames, and `window` in `hello`, are ours: a relay that does
 * not announce a window never sees them.
 */
const textFrameSchema = schemas/* discriminatedUnion */.gMt('t', [
    schemas/* object */.Ikc({
        t: schemas/* literal */.euz('hello'),
        proto: schemas/* number */.aig(),
        slug: schemas/* string */.YjP().catch(''),
        limits: schemas/* preprocess */.vkY((value) => value ?? {}, limitsSchema),
        /** Bytes of body that either side may send per request before it is granted more; null where nothing is metered. */
        window: schemas/* int */.Whr().positive().max(1_073_741_824).nullable().catch(null).default(null),
    }),
    schemas/* object */.Ikc({
        t: schemas/* literal */.euz('req'),
        id: frames_id,
        // RFC 9110 §5.6.2, token.
        method: schemas/* string */.YjP().regex(/^[!#$%&'*+.^_`|~\dA-Za-z-]{1,32}$/),
        /** Path and query. Nothing but printable ASCII, since it goes into a request line. */
        url: schemas/* string */.YjP().regex(/^\/[\x21-\x7e]*$/),
        headers,
        hasBody: schemas/* boolean */.zMY(),
    }),
    schemas/* object */.Ikc({ t: schemas/* literal */.euz('req_end'), id: frames_id }),
    schemas/* object */.Ikc({ t: schemas/* literal */.euz('res'), id: frames_id, status: schemas/* int */.Whr().min(200).max(599), headers }),
    schemas/* object */.Ikc({ t: schemas/* literal */.euz('res_end'), id: frames_id }),
    schemas/* object */.Ikc({
        t: schemas/* literal */.euz('abort'),
        id: frames_id,
        code: schemas/* enum */.k5n(abortCodes).catch('upstream_error'),
        msg: schemas/* string */.YjP().optional().catch(undefined),
    }),
    schemas/* object */.Ikc({ t: schemas/* literal */.euz('window'), id: frames_id, n: schemas/* int */.Whr().positive().max(1_073_741_824) }),
]);
const headSchema = schemas/* object */.Ikc({ t: schemas/* enum */.k5n(['req', 'res']), id: frames_id });
const ignored = { t: 'ignored', id: null };
/**
 * Reads a text frame. Whatever is not one, or not a valid one, is `ignored`; with its id where it is the head of a request
 * or a response, so that the other side can be told. Never throws.
 */
function parseTextFrame(text) {
    let value;
    try {
        value = JSON.parse(text);
    }
    catch {
        return ignored;
    }
    const frame = textFrameSchema.safeParse(value);
    if (frame.success)
        return frame.data;
    const head = headSchema.safeParse(value);
    return head.success ? { t: 'ignored', id: head.data.id } : ignored;
}
function renderTextFrame(frame) {
    return JSON.stringify(frame);
}
/** The first byte of a binary frame: whose body it is a part of. */
const bodyKinds = { request: 0x01, response: 0x02 };
/** One byte of kind, four of id. */
const bodyHeadBytes = 5;
/** Reads a binary frame: kind, id as uint32 in network order, payload. Anything else is `ignored`. Never throws. */
function parseBodyFrame(frame) {
    if (frame.length < bodyHeadBytes)
        return ignored;
    const kind = frame[0] === bodyKinds.request ? 'request' : frame[0] === bodyKinds.response ? 'response' : null;
    if (kind === null)
        return ignored;
    return { t: 'body', kind, id: frame.readUInt32BE(1), payload: frame.subarray(bodyHeadBytes) };
}
function renderBodyFrame(kind, id, payload) {
    const frame = Buffer.allocUnsafe(bodyHeadBytes + payload.length);
    frame[0] = bodyKinds[kind];
    frame.writeUInt32BE(id, 1);
    payload.copy(frame, bodyHeadBytes);
    return frame;
}

;// CONCATENATED MODULE: ./lib/tunnel/link.js

/** Bytes waiting in a socket above which no more body is sent until they have left. */
const congestionBytes = 1024 * 1024;
/**
 * Sends and receives frames over a WebSocket. `stream` is the connection below it: what is written in one turn of the
 * event loop leaves in one piece, which for small calls is almost half as much again in throughput.
 */
function openLink(socket, stream, receive) {
    const holders = new Set();
    const drained = new Set();
    let isCorked = false;
    const write = (data) => {
        if (socket.readyState !== socket.OPEN)
            return;
        if (!isCorked) {
            isCorked = true;
            stream.cork();
            setImmediate(() => {
                isCorked = false;
                stream.uncork();
            });
        }
        // A failure to send is the end of the socket, of which its own events tell.
        socket.send(data, () => { });
    };
    stream.on('drain', () => {
        const callbacks = [...drained];
        drained.clear();
        for (const callback of callbacks)
            callback();
    });
    socket.on('message', (data, isBinary) => {
        if (Buffer.isBuffer(data))
            receive(isBinary ? parseBodyFrame(data) : parseTextFrame(data.toString()));
    });
    return {
        send: (frame) => write(renderTextFrame(frame)),
        sendBody: (kind, id, payload) => write(renderBodyFrame(kind, id, payload)),
        get isCongested() {
            return socket.bufferedAmount > congestionBytes;
        },
        onceDrained: (callback) => {
            drained.add(callback);
        },
        hold: (owner) => {
            holders.add(owner);
            socket.pause();
        },
        release: (owner) => {
            if (holders.delete(owner) && holders.size === 0)
                socket.resume();
        },
        get isHeld() {
            return holders.size > 0;
        },
    };
}

;// CONCATENATED MODULE: ./lib/tunnel/flow.js
/**
 * Sends a body in frames of at most `chunkBytes`, no faster than the receiver grants credit and the socket empties;
 * meanwhile the source is paused. Bodies on the same link do not wait for each other's credit.
 */
function openOutgoingBody({ link, id, kind, window }, { source, chunkBytes, onEnd }) {
    let credit = window ?? Number.POSITIVE_INFINITY;
    let waiting = [];
    let isPaused = false;
    let isEnded = false;
    let isStopped = false;
    /** Sends one frame, if one may be sent. */
    const sendFirst = () => {
        const [chunk] = waiting;
        if (chunk === undefined || credit <= 0 || link.isCongested)
            return false;
        const size = Math.min(chunk.length, chunkBytes, credit);
        link.sendBody(kind, id, chunk.subarray(0, size));
        credit -= size;
        if (size === chunk.length)
            waiting.shift();
        else
            waiting[0] = chunk.subarray(size);
        return true;
    };
    const flush = () => {
        if (isStopped)
            return;
        while (sendFirst())
            ;
        if (waiting.length > 0) {
            if (link.isCongested)
                link.onceDrained(flush);
            if (!isPaused)
                source.pause();
            isPaused = true;
        }
        else if (isEnded) {
            isStopped = true;
            link.send({ t: kind === 'request' ? 'req_end' : 'res_end', id });
            onEnd();
        }
        else if (isPaused) {
            isPaused = false;
            source.resume();
        }
    };
    return {
        write: (chunk) => {
            if (isStopped || chunk.length === 0)
                return;
            waiting.push(chunk);
            flush();
        },
        end: () => {
            isEnded = true;
            flush();
        },
        grant: (bytes) => {
            credit += bytes;
            flush();
        },
        get isBlocked() {
            return waiting.length > 0 || credit <= 0;
        },
        stop: () => {
            isStopped = true;
            waiting = [];
        },
    };
}
/** What one body may keep in memory when the sender knows no credit. */
const uncreditedBytes = 1024 * 1024;
/**
 * Grants the sender credit as bytes are passed on. A sender that goes beyond it, or knows none, is stopped by not reading
 * from the socket any more: that holds up the other bodies too, but memory stays bounded whatever the peer does.
 */
function openIncomingBody({ link, id, window }) {
    const allowance = window ?? uncreditedBytes;
    const owner = {};
    let waitingBytes = 0;
    let ungranted = 0;
    let isStopped = false;
    return {
        received: (bytes) => {
            if (isStopped)
                return;
            waitingBytes += bytes;
            if (waitingBytes > allowance)
                link.hold(owner);
        },
        consumed: (bytes) => {
            if (isStopped)
                return;
            waitingBytes -= bytes;
            ungranted += bytes;
            if (waitingBytes <= allowance / 2)
                link.release(owner);
            // In halves of the window: fewer frames, and the sender never runs dry while it waits for one.
            if (window === null || ungranted < window / 2)
                return;
            link.send({ t: 'window', id, n: ungranted });
            ungranted = 0;
        },
        get waitingBytes() {
            return waitingBytes;
        },
        stop: () => {
            isStopped = true;
            link.release(owner);
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/relay/refusal.js
/** What becomes of a request that the host or the relay gave up before it was answered. */
const refusals = {
    timeout: { status: 504, code: 'TIMEOUT', message: 'The server behind the tunnel took too long.' },
    too_large: { status: 413, code: 'VALIDATION_ERROR', message: 'The request body is too large for the tunnel.' },
    client_gone: { status: 502, code: 'SERVER_UNREACHABLE', message: 'The tunnel gave the request up.' },
    upstream_error: { status: 502, code: 'SERVER_UNREACHABLE', message: 'The tunnel lost the server or its host.' },
    overloaded: { status: 503, code: 'RATE_LIMITED', message: 'The tunnel carries as many requests as it can.' },
    no_host: { status: 503, code: 'SERVER_UNREACHABLE', message: 'No host is connected to this tunnel.' },
    unauthorized: { status: 401, code: 'UNAUTHORIZED', message: 'The tunnel was closed, or its secret is not this one.' },
    not_found: { status: 404, code: 'NOT_FOUND', message: 'Path not found.' },
};
/** Answers a request that nothing was answered to yet, and ends its connection: its body may not be read to the end. */
function sendRefusal(response, { status, code, message }) {
    if (response.headersSent || response.destroyed)
        return;
    const retry = status === 503 ? { 'retry-after': '1' } : {};
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...retry });
    response.end(JSON.stringify({ code, message }));
}

;// CONCATENATED MODULE: ./lib/embedded/relay/public-call.js



/** Sends a public request to the host, and the host's answer to the client; both bodies as streams. */
function startPublicCall(id, { request, response }, context) {
    const { link, limits, onEnd } = context;
    const { window, chunk: chunkBytes } = limits;
    const hasBody = request.headers['transfer-encoding'] !== undefined || readLength(request) > 0;
    const incoming = openIncomingBody({ link, id, window });
    const outgoing = openOutgoingBody({ link, id, kind: 'request', window }, { source: request, chunkBytes, onEnd: () => { } });
    let isDone = false;
    let bodyBytes = 0;
    const finish = () => {
        isDone = true;
        outgoing.stop();
        incoming.stop();
        // What is left of the request is read and dropped, so that the connection can serve another.
        request.resume();
        onEnd();
    };
    const fail = (code) => {
        if (isDone)
            return;
        finish();
        if (response.headersSent)
            response.destroy();
        else
            sendRefusal(response, refusals[code]);
    };
    const abort = (code) => {
        if (isDone)
            return;
        link.send({ t: 'abort', id, code });
        fail(code);
    };
    /** Does what the host asks of the response; a host that contradicts itself loses the request. */
    const relay = (step) => {
        try {
            step();
        }
        catch {
            abort('upstream_error');
        }
    };
    const writeHead = (status, headers) => {
        // An answer shorter or longer than it says would end in the middle of the next one.
        response.strictContentLength = true;
        response.writeHead(status, dropHopByHop(headers).flat());
        // A head that nothing follows goes out by itself; else with the first of the body.
        setImmediate(() => {
            if (!isDone && !response.destroyed)
                response.flushHeaders();
        });
    };
    response.on('error', () => { });
    response.on('close', () => abort('client_gone'));
    request.on('error', () => abort('client_gone'));
    link.send({
        t: 'req',
        id,
        method: request.method ?? '',
        url: request.url ?? '',
        headers: listHeaders(request),
        hasBody,
    });
    if (hasBody) {
        request.on('data', (chunk) => {
            if (isDone)
                return;
            bodyBytes += chunk.length;
            if (bodyBytes > limits.maxReqBody)
                abort('too_large');
            else
                outgoing.write(chunk);
        });
        request.on('end', () => outgoing.end());
    }
    return {
        receive: (frame) => {
            if (isDone)
                return;
            if (frame.t === 'res')
                relay(() => writeHead(frame.status, frame.headers));
            else if (frame.t === 'body') {
                const { length } = frame.payload;
                // Bytes before a head, or nobody's bytes.
                if (!response.headersSent || length === 0)
                    return;
                incoming.received(length);
                relay(() => response.write(frame.payload, () => incoming.consumed(length)));
            }
            else if (frame.t === 'res_end') {
                relay(() => {
                    if (!response.headersSent)
                        throw new Error('There is no answer to be ended.');
                    response.end();
                    finish();
                });
            }
            else if (frame.t === 'window')
                outgoing.grant(frame.n);
            else if (frame.t === 'abort')
                fail(frame.code);
            else if (frame.t === 'ignored')
                abort('upstream_error');
        },
        fail,
    };
}
/** The body's length as announced; 0 where it was not. */
function readLength(request) {
    return Number(request.headers['content-length'] ?? 0);
}
/** The host's own Host header goes to the target; the name that the client used travels beside it. */
function listHeaders(request) {
    const kept = dropHopByHop(pairHeaders(request.rawHeaders)).filter(([name]) => !/^(?:x-forwarded-)?host$/i.test(name));
    return [...kept, ['x-forwarded-host', request.headers.host ?? '']];
}

;// CONCATENATED MODULE: ./lib/embedded/relay/agent.js




const pingIntervalMs = 5000;
const leaveTimeoutMs = 300;
/** Ids are unsigned 32-bit integers on the wire. */
const idCount = 2 ** 32;
/** Greets a host and carries requests to it until its socket closes, of which `onClose` tells with the close code. */
function openAgent({ socket, stream }, options) {
    const { slug, limits, clock, onClose } = options;
    const { window, maxReqBody, chunk, maxInflight } = limits;
    const calls = new Map();
    const over = new AbortController();
    let lastId = 0;
    const link = openLink(socket, stream, (frame) => {
        if ('id' in frame && frame.id !== null)
            calls.get(frame.id)?.receive(frame);
    });
    const failAll = () => {
        for (const call of calls.values())
            call.fail('upstream_error');
    };
    socket.on('error', () => { });
    socket.on('close', (closeCode) => {
        over.abort();
        failAll();
        onClose(closeCode);
    });
    link.send({ t: 'hello', proto: 1, slug, limits: { maxReqBody, chunk, maxInflight }, window });
    void keepAlive(socket, { clock, intervalMs: pingIntervalMs, isHeld: () => link.isHeld, signal: over.signal });
    return {
        serve: (exchange) => {
            if (calls.size >= maxInflight)
                return sendRefusal(exchange.response, refusals.overloaded);
            do
                lastId = (lastId + 1) % idCount;
            while (calls.has(lastId));
            const id = lastId;
            calls.set(id, startPublicCall(id, exchange, { link, limits, onEnd: () => calls.delete(id) }));
        },
        close: (closeCode) => {
            failAll();
            socket.close(closeCode);
            const leave = async () => {
                await clock.sleep(leaveTimeoutMs, { signal: over.signal });
                socket.terminate();
            };
            leave().catch(() => { });
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/relay/grants.js



/** As long as a job of GitHub's may run, so that a host that comes back does not need another grant. */
const tokenLifetimeMs = 6 * 60 * 60_000;
/** Keeps the grants of this process, by digest alone. */
function createGrantBook(clock) {
    const versions = new Map();
    const secrets = new Map();
    // Also of the past, to tell a host whose place was taken from one that made its token up.
    const tokens = new Map();
    const nobody = (0,external_node_crypto_.randomBytes)(32);
    return {
        issue: (serverId) => {
            const version = (versions.get(serverId) ?? 0) + 1;
            const [secret, connectToken] = [createSecret('k_'), createSecret('ct_')];
            const expiresAt = clock.now() + tokenLifetimeMs;
            versions.set(serverId, version);
            secrets.set(serverId, digestText(secret.reveal()));
            tokens.set(nameToken(connectToken.reveal()), { serverId, version, expiresAt });
            const slug = nameServer(serverId);
            return { serverId, slug, secret, connectToken, connectTokenExpiresAt: expiresAt, secretVersion: version };
        },
        revoke: (serverId) => {
            secrets.delete(serverId);
        },
        isSecret: (serverId, secret) => isSecretOf(secret, secrets.get(serverId) ?? nobody),
        admit: (connectToken) => {
            const token = tokens.get(nameToken(connectToken));
            if (token === undefined)
                return 'invalid';
            const { serverId, version, expiresAt } = token;
            if (!secrets.has(serverId) || versions.get(serverId) !== version)
                return 'superseded';
            return expiresAt <= clock.now() ? 'invalid' : { serverId, slug: nameServer(serverId) };
        },
    };
}
function createSecret(prefix) {
    return new redaction/* Secret */.zh(`${prefix}${(0,external_node_crypto_.randomBytes)(32).toString('base64url')}`);
}
/** Tokens are looked up by digest, which no timing of the lookup helps to find. */
function nameToken(connectToken) {
    return digestText(connectToken).toString('base64');
}
function nameServer(serverId) {
    return digestText(serverId).toString('hex').slice(0, 12);
}

;// CONCATENATED MODULE: ./lib/embedded/relay/tunnels.js
/** How long a host that broke off is waited for. */
const gapMs = 5000;
/** Close codes with which a host says that it does not come back, or was told not to. */
const partings = new Set([1000, 1001, 4001, 4002]);
function createTunnelTable(clock) {
    const agents = new Map();
    const brokenAtMs = new Map();
    const waiters = new Map();
    const wake = (serverId) => {
        for (const waiter of waiters.get(serverId) ?? [])
            waiter();
        waiters.delete(serverId);
    };
    const waitForAgent = async (serverId, signal) => {
        const waiting = waiters.get(serverId) ?? new Set();
        waiters.set(serverId, waiting);
        const { promise: woken, resolve } = Promise.withResolvers();
        waiting.add(resolve);
        const settled = new AbortController();
        const patience = AbortSignal.any([signal, settled.signal]);
        await Promise.race([woken, clock.sleep(gapMs, { signal: patience }).catch(() => { })]);
        settled.abort();
        waiting.delete(resolve);
        return agents.get(serverId) ?? null;
    };
    return {
        connect: (serverId, agent) => {
            agents.get(serverId)?.close(4001);
            agents.set(serverId, agent);
            brokenAtMs.delete(serverId);
            wake(serverId);
        },
        disconnect: (serverId, agent, closeCode) => {
            if (agents.get(serverId) !== agent)
                return;
            agents.delete(serverId);
            if (!partings.has(closeCode))
                brokenAtMs.set(serverId, clock.monotonicMs());
        },
        close: (serverId, closeCode) => {
            const agent = agents.get(serverId);
            agents.delete(serverId);
            brokenAtMs.delete(serverId);
            agent?.close(closeCode);
            wake(serverId);
        },
        findAgent: (serverId, { signal }) => {
            const agent = agents.get(serverId);
            if (agent !== undefined)
                return agent;
            const isGap = clock.monotonicMs() - (brokenAtMs.get(serverId) ?? Number.NEGATIVE_INFINITY) < gapMs;
            return isGap ? waitForAgent(serverId, signal) : null;
        },
        closeAll: (closeCode) => {
            for (const agent of agents.values())
                agent.close(closeCode);
            agents.clear();
            brokenAtMs.clear();
            for (const serverId of waiters.keys())
                wake(serverId);
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/relay/edge.js








/** Where hosts dial in, on the service's origin. */
const agentPath = '/agent';
/** The same protocol under the names of both services that speak it. */
const subprotocols = new Set(['svc-tunnel.v1', 'mcpjam-tunnel.v1']);
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Frames that carry no body hold the headers of a response. */
const maxHeadBytes = 1024 * 1024;
const replacedCode = 4002;
const closeCodes = { invalid: 4000, superseded: replacedCode };
/** RFC 6455 §7.4.1, going away. */
const goingAwayCode = 1001;
function createRelayEdge({ clock, limits }) {
    const grants = createGrantBook(clock);
    const tunnels = createTunnelTable(clock);
    const sockets = new wrapper/* WebSocketServer */.zu({
        noServer: true,
        maxPayload: Math.max(maxHeadBytes, limits.chunk * 2),
        perMessageDeflate: false,
        handleProtocols: (offered) => [...offered].find((name) => subprotocols.has(name)) ?? false,
    });
    const answer = async (exchange) => {
        const { request, response } = exchange;
        const address = parseAddress(request.url ?? '');
        if (address === null || !methods.has(request.method ?? '') || !isLoopbackHost(request)) {
            return sendRefusal(response, refusals.not_found);
        }
        const { serverId, secret } = address;
        if (secret === null || !grants.isSecret(serverId, secret))
            return sendRefusal(response, refusals.unauthorized);
        if (readLength(request) > limits.maxReqBody)
            return sendRefusal(response, refusals.too_large);
        const gone = new AbortController();
        response.on('close', () => gone.abort());
        const found = tunnels.findAgent(serverId, { signal: gone.signal });
        const agent = found instanceof Promise ? await found : found;
        if (gone.signal.aborted)
            return;
        if (agent === null)
            sendRefusal(response, refusals.no_host);
        else
            agent.serve(exchange);
    };
    return {
        issue: (serverId) => {
            tunnels.close(serverId, replacedCode);
            return grants.issue(serverId);
        },
        revoke: (serverId) => {
            grants.revoke(serverId);
            tunnels.close(serverId, replacedCode);
        },
        serve: (exchange) => {
            if (exchange.request.url?.startsWith(relayPath) !== true)
                return false;
            answer(exchange).catch(() => exchange.response.destroy());
            return true;
        },
        upgrade: (request, stream, head) => {
            const status = judgeUpgrade(request);
            if (status !== null) {
                stream.on('error', () => { });
                stream.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
                return;
            }
            sockets.handleUpgrade(request, stream, head, (socket) => {
                const admitted = grants.admit(parseBearer(request.headers.authorization) ?? '');
                if (typeof admitted === 'string') {
                    socket.on('error', () => { });
                    socket.close(closeCodes[admitted]);
                    return;
                }
                const { serverId, slug } = admitted;
                const onClose = (closeCode) => tunnels.disconnect(serverId, agent, closeCode);
                const agent = openAgent({ socket, stream }, { slug, limits, clock, onClose });
                tunnels.connect(serverId, agent);
            });
        },
        [Symbol.dispose]: () => {
            tunnels.closeAll(goingAwayCode);
            for (const socket of sockets.clients)
                socket.terminate();
        },
    };
}
/** The status line with which an upgrade is turned down; null for one that a host asks for. */
function judgeUpgrade(request) {
    if (!isLoopbackHost(request))
        return '403 Forbidden';
    if (request.url !== agentPath)
        return '404 Not Found';
    // Hosts are programs; a browser always sends the page's origin.
    if (request.headers.origin !== undefined)
        return '403 Forbidden';
    if (parseBearer(request.headers.authorization) === undefined)
        return '401 Unauthorized';
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    return offered.some((name) => subprotocols.has(name)) ? null : '400 Bad Request';
}
/** What DNS rebinding cannot forge is the name in the Host header. */
function isLoopbackHost({ headersDistinct: { host: hosts = [] } }) {
    const url = URL.parse(`http://${hosts[0] ?? ''}`);
    return (hosts.length === 1 &&
        url !== null &&
        url.host !== '' &&
        url.pathname === '/' &&
        url.username === '' &&
        isLoopbackName(url.hostname));
}
/** Reads the server and the secret out of the path and query of a public URL; a secret that is given twice is none. */
function parseAddress(url) {
    const [path = '', ...rest] = url.split('?');
    const below = path.slice(relayPath.length);
    const serverId = below.split('/')[0] ?? '';
    if (!/^[\w-]+$/.test(serverId) || !isPlainPath(below))
        return null;
    const [secret, ...others] = new URLSearchParams(rest.join('?')).getAll('k');
    return { serverId, secret: others.length > 0 ? null : (secret ?? null) };
}

;// CONCATENATED MODULE: ./lib/embedded/routes/tunnels.js






const tunnels_list = '/projects/:projectId/tunnels';
/** Unlike the bodies of other writes, this one may have fields that are not known. */
const tunnelCreateSchema = schemas/* object */.Ikc({ name: schemas/* string */.YjP().trim().min(1).max(128) });
/** Tunnels to servers of a project, by the name of the server's record. */
function createTunnelRoutes({ store, clock, readBody, relay }) {
    const routes = new hono_dist/* Hono */.$();
    routes.post(tunnels_list, async (c) => {
        const projectId = requireProject(store, c.req.param('projectId')).id;
        const { name } = await readBody(c.req, tunnelCreateSchema);
        const before = store.servers.getByName(projectId, name);
        const grant = relay.issue(before?.id ?? createId('srv'));
        const { serverId, slug, secret, connectToken, connectTokenExpiresAt, secretVersion } = grant;
        const { origin, host } = new URL(c.req.url);
        const url = `${origin}${relayPath}${serverId}?k=${secret.reveal()}`;
        const content = { ...before?.content, name, enabled: true, transportType: 'http', url };
        try {
            if (before === undefined)
                store.servers.insert({ id: serverId, projectId, content, now: clock.now() });
            else
                store.servers.update({ id: serverId, content, now: clock.now() });
        }
        catch (error) {
            // A grant that no record leads to could never be closed.
            relay.revoke(serverId);
            throw error;
        }
        return c.json({
            serverId,
            name,
            existed: before !== undefined,
            ...(before === undefined ? {} : describeBefore(before.content, url)),
            slug,
            url,
            connectToken: connectToken.reveal(),
            connectTokenExpiresAt,
            relayWsUrl: `ws://${host}${agentPath}`,
            secretVersion,
        }, 201);
    });
    routes.post(`${tunnels_list}/:serverId/close`, (c) => {
        const project = requireProject(store, c.req.param('projectId'));
        const { id: serverId } = requireServer(store, project.id, c.req.param('serverId'));
        relay.revoke(serverId);
        return c.json({ serverId, status: 'closed' });
    });
    return routes;
}
/** What the record said before. Another secret of the same tunnel is no other URL. */
function describeBefore({ transportType, url }, nextUrl) {
    const isOther = url !== undefined && dropQuery(url) !== dropQuery(nextUrl);
    return { ...(isOther ? { previousUrl: url } : {}), previousTransportType: transportType };
}
function dropQuery(url) {
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname}`;
}

;// CONCATENATED MODULE: ./lib/embedded/routes/unsupported.js


const project = '/projects/:projectId';
const server = `${project}/servers/:serverId`;
const suite = `${project}/eval-suites/:suiteId`;
const environments = `${project}/environments`;
const hosts = `${project}/hosts`;
const unsupported_images = `${project}/images`;
/** Operations of the API that this service does not offer, by the reason that is given for it. */
const unsupported = {
    'This service keeps one project per key and does not change it.': [`PATCH ${project}`, `DELETE ${project}`],
    'This service has no organizations, plans or capabilities.': ['GET /organizations', `GET ${project}/capabilities`],
    'This service talks to MCP servers in runs alone; use a case with a toolCall step.': [
        `POST ${server}/validate`,
        `POST ${server}/doctor`,
        `POST ${server}/check-oauth`,
        `POST ${server}/tools`,
        `POST ${server}/tools/call`,
        `POST ${server}/prompts`,
        `POST ${server}/prompts/get`,
        `POST ${server}/resources`,
        `POST ${server}/resources/read`,
        `POST ${server}/export`,
        `POST ${server}/oauth/import-tokens`,
    ],
    'This service runs no models.': [
        'GET /models',
        `POST ${suite}/cases/generate`,
        `POST ${project}/agent`,
        `POST ${project}/eval-runs/:runId/judge`,
        `POST ${project}/eval-runs/:runId/insights`,
    ],
    'This service does not compare runs; read the iterations of both.': [
        `GET ${project}/eval-runs/:runId/compare`,
        'GET /eval-runs/:runId/compare',
    ],
    'This service starts one run per request.': [`POST ${project}/eval-run-groups`],
    'This service has no schedule; let the CI system start the runs.': [`PATCH ${suite}/schedule`],
    'This service keeps the runs that it executed, and no others.': [
        `POST ${project}/eval-ingest/report`,
        `POST ${project}/eval-ingest/runs/start`,
        `POST ${project}/eval-ingest/runs/iterations`,
        `POST ${project}/eval-ingest/runs/finalize`,
        `POST ${project}/eval-ingest/artifacts/upload-url`,
    ],
    'This service has no environments, hosts, images or plugins.': [
        `POST ${suite}/environments`,
        `GET ${environments}`,
        `POST ${environments}`,
        `GET ${environments}/:environmentId`,
        `PATCH ${environments}/:environmentId`,
        `GET ${environments}/:environmentId/resolve`,
        `POST ${environments}/:environmentId/archive`,
        `POST ${environments}/:environmentId/restore`,
        'GET /host-catalog',
        'GET /harness/:harnessId/builtin-tools',
        `GET ${hosts}`,
        `POST ${hosts}`,
        `GET ${hosts}/:hostId`,
        `PATCH ${hosts}/:hostId`,
        `DELETE ${hosts}/:hostId`,
        `POST ${hosts}/:hostId/servers`,
        `POST ${hosts}/:hostId/duplicate`,
        `GET ${unsupported_images}`,
        `POST ${unsupported_images}`,
        `POST ${unsupported_images}/validate`,
        `GET ${unsupported_images}/:imageId`,
        `PATCH ${unsupported_images}/:imageId`,
        `DELETE ${unsupported_images}/:imageId`,
        `GET ${unsupported_images}/:imageId/builds`,
        `POST ${unsupported_images}/:imageId/build`,
        `POST ${unsupported_images}/:imageId/promote`,
        `POST ${unsupported_images}/:imageId/use`,
        `POST ${project}/computer/reset`,
        `GET ${project}/plugins`,
        'GET /plugin-versions/:pluginVersionId',
    ],
    'This service has no chats and exports no telemetry.': [
        'GET /chat-sessions',
        'GET /trace-exports/otlp',
        `GET ${project}/chatboxes`,
        `GET ${project}/chatboxes/:chatboxId`,
        `GET ${project}/scenarios`,
        `GET ${project}/scenarios/:scenarioId`,
    ],
};
/** Answers the rest of the API with FEATURE_NOT_SUPPORTED and the reason, so that it is not taken for a wrong path. */
function createUnsupportedRoutes() {
    const routes = new hono_dist/* Hono */.$();
    for (const [reason, operations] of Object.entries(unsupported)) {
        for (const operation of operations) {
            const [method = '', path = ''] = operation.split(' ');
            routes.on(method, path, () => {
                throw notSupported(reason);
            });
        }
    }
    return routes;
}

;// CONCATENATED MODULE: ./lib/embedded/app.js















/** Where the API is mounted, on whatever origin. */
const apiPath = '/api/v1';
/**
 * Puts the API together: a function from Request to Response that needs no socket. A refusal has one shape whatever
 * route it comes from; an error that nobody meant is logged and answered without its text.
 */
function createApp(context, access) {
    const { logger, clock } = context;
    const api = new hono_dist/* Hono */.$();
    api.use(requireLoopbackHost(), requireApiKey(access.apiKey));
    if (access.rateLimit !== null)
        api.use(limitRate(clock, access.rateLimit));
    const runs = createRunRoutes(context, createLauncher(context));
    for (const routes of [
        createAccountRoutes(context),
        createServerRoutes(context),
        createTunnelRoutes(context),
        createSuiteRoutes(context),
        createCaseBatchRoutes(context),
        createCaseRoutes(context),
    ]) {
        api.route('/', routes);
    }
    api.route('/projects/:projectId/eval-runs', runs);
    api.route('/eval-runs', runs);
    api.route('/', createUnsupportedRoutes());
    const app = new hono_dist/* Hono */.$().route(apiPath, api);
    app.notFound(() => renderApiError(notFound('Path')));
    app.onError((error, c) => {
        if (error instanceof ApiError)
            return renderApiError(error);
        // The matched pattern, not the path: a path is the client's text.
        logger.error(`${c.req.method} ${(0,route/* routePath */.dA)(c, -1)} failed: ${(0,errors/* describeError */.Uc)(error)}`);
        return renderApiError(new ApiError('INTERNAL_ERROR', 'The service failed to answer; its log says why.'));
    });
    return app;
}

;// CONCATENATED MODULE: ./lib/embedded/bodies/run.js



const run_text = schemas/* string */.YjP().exactOptional();
/** The body that creates a run, before its shape (rerun, upsert, new suite) is known. */
function createRunSchema(limits, tests) {
    return schemas/* strictObject */.rej({
        /** Read on the short path only; the path's project wins. */
        projectId: run_text,
        suiteId: schemas/* string */.YjP().min(1).exactOptional(),
        suiteName: schemas/* string */.YjP().trim().min(1).exactOptional(),
        suiteDescription: run_text,
        tests: schemas/* array */.YOg(tests.ofRun).min(1).max(limits.testsPerRequest).exactOptional(),
        serverIds: schemas/* array */.YOg(schemas/* string */.YjP().min(1)).min(1).exactOptional(),
        serverNames: schemas/* array */.YOg(schemas/* string */.YjP()).exactOptional(),
        suiteRerun: schemas/* boolean */.zMY().exactOptional(),
        /** Accepted, never stored: no model is called. */
        modelApiKeys: schemas/* record */.g1P(schemas/* string */.YjP(), schemas/* string */.YjP()).exactOptional(),
        notes: run_text,
        passCriteria: passCriteriaSchema.exactOptional(),
        iterationOverride: schemas/* int */.Whr().min(1).max(limits.iterationsPerCase).exactOptional(),
        environmentId: run_text,
        namedHostId: run_text,
        caseIds: schemas/* array */.YOg(schemas/* string */.YjP().min(1)).min(1).exactOptional(),
        matchOptionsOverride: matchOptionsOverrideSchema.exactOptional(),
        /** There are no skills here, so leaving them out is what happens anyway. */
        skillsOverride: schemas/* literal */.euz('exclude').exactOptional(),
        refreshSnapshot: schemas/* boolean */.zMY().exactOptional(),
        runGroupId: run_text,
        idempotencyKey: schemas/* string */.YjP().max(256).exactOptional(),
    });
}

;// CONCATENATED MODULE: ./lib/embedded/bodies/schemas.js



/** The strict bodies whose bounds depend on the service's limits. */
function createBodySchemas(limits) {
    const tests = createTestSchemas(limits);
    return {
        cases: createCaseSchemas(limits),
        suites: createSuiteSchemas(limits, tests),
        run: createRunSchema(limits, tests),
    };
}

;// CONCATENATED MODULE: ./lib/embedded/limits.js
/** What the hosted service allows, so that whatever works here works there. */
const contractLimits = {
    iterationsPerCase: 10,
    testsPerRequest: 100,
    stepsPerCase: 200,
    argumentCharacters: 100_000,
    llmCallsPerRun: 300,
    concurrentRuns: 2,
    maxBodyBytes: 6 * 1024 * 1024,
};
/** The hosted service's own bounds on one iteration and one run. */
const defaultIterationTimeoutMs = 10 * 60_000;
const defaultRunTimeoutMs = 20 * 60_000;

;// CONCATENATED MODULE: ./lib/embedded/relay/limits.js
/**
 * A run keeps two requests per session open, so many may be under way; each may fill its window in this process when the
 * other side does not read.
 */
const defaultRelayLimits = {
    maxReqBody: 64 * 1024 * 1024,
    chunk: 65_536,
    maxInflight: 256,
    window: 512 * 1024,
};

// EXTERNAL MODULE: ./node_modules/p-map/index.js
var p_map = __webpack_require__(606);
;// CONCATENATED MODULE: ./lib/model/assertion.js
/** What a `widget…` predicate or assertion needs and no installation of ours has. */
const noBrowserReason = 'No browser runs here, so nothing about a widget can be established.';

;// CONCATENATED MODULE: ./lib/engine/iteration-limit.js
/** Starts the time of an iteration, in milliseconds. */
function startIterationLimit(clock, timeoutMs, caller) {
    const timeout = new AbortController();
    const timer = new AbortController();
    void clock.sleep(timeoutMs, { signal: timer.signal }).then(() => timeout.abort(new Error('The iteration took too long.')), () => { });
    const signal = caller === undefined ? timeout.signal : AbortSignal.any([timeout.signal, caller]);
    return {
        signal,
        stoppedBy: () => {
            if (!signal.aborted)
                return null;
            return signal.reason === timeout.signal.reason ? 'timeout' : 'caller';
        },
        [Symbol.dispose]: () => timer.abort(),
    };
}

;// CONCATENATED MODULE: ./lib/engine/match-arguments.js

const placeholders = {
    any: (value) => value !== undefined,
    string: (value) => typeof value === 'string',
    number: (value) => typeof value === 'number',
    boolean: (value) => typeof value === 'boolean',
    object: isJsonObject,
    array: Array.isArray,
    null: (value) => value === null,
};
/**
 * Whether the arguments of a call are the expected ones.
 *
 * `partial` looks only at the expected top-level keys, and there the words `any`, `string`, `number`, `boolean`,
 * `object`, `array` and `null` (trimmed, in any case) stand for a type, so that none of them can be meant literally;
 * nested values are compared whole. `exact` compares the documents, without placeholders. `ignore` accepts anything.
 */
function matchesArguments(expected, actual, matching) {
    if (matching === 'ignore')
        return true;
    if (matching === 'exact')
        return isJsonEqual(expected, actual);
    return Object.entries(expected).every(([key, value]) => matchesValue(value, Object.hasOwn(actual, key) ? actual[key] : undefined));
}
function matchesValue(expected, actual) {
    const word = typeof expected === 'string' ? expected.trim().toLowerCase() : '';
    const placeholder = Object.hasOwn(placeholders, word) ? placeholders[word] : undefined;
    return placeholder === undefined ? isJsonEqual(expected, actual) : placeholder(actual);
}

;// CONCATENATED MODULE: ./lib/engine/predicates/judgement.js
/** Makes a judge that reads its fields first, and fails whatever does not have them. Unknown fields are left alone. */
function defineJudge(schema, judge) {
    return (predicate, evidence) => {
        const parsed = schema.safeParse(predicate);
        if (parsed.success)
            return judge(parsed.data, evidence);
        const [issue] = parsed.error.issues;
        const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
        return { passed: false, reason: `the predicate is malformed: ${place}${issue?.message ?? 'it is not an object'}.` };
    };
}

;// CONCATENATED MODULE: ./lib/engine/predicates/api.js






const toolName = schemas/* string */.YjP().min(1);
const jsonObject = schemas/* custom */.IeY(isJsonObject, 'expected an object');
/** The API's own limit on what `responseMatches` searches, in characters. */
const longestSearchedMessage = 100_000;
/** A quantified group that is quantified again: the shape that makes a backtracking matcher take for ever. */
const nestedQuantifier = /[+*}]\??\)[+*{]/;
/** The API's thirteen predicates. Every one fails when what it asks about was not measured. */
const apiJudges = {
    toolCalledWith: defineJudge(schemas/* object */.Ikc({
        toolName,
        args: schemas/* object */.Ikc({ args: jsonObject, argumentMatching: schemas/* enum */.k5n(['ignore', 'partial', 'exact']).optional() }),
        minCount: schemas/* int */.Whr().min(1).optional(),
    }), judgeCalledWith),
    toolCalledAtLeastOnce: defineJudge(schemas/* object */.Ikc({ toolName }), ({ toolName }, evidence) => {
        const count = countCalls(evidence, toolName);
        return { passed: count > 0, reason: `${toolName} was ${formatTimes(count)}; ${listCalled(evidence)}.` };
    }),
    toolNeverCalled: defineJudge(schemas/* object */.Ikc({ toolName }), ({ toolName }, evidence) => {
        const count = countCalls(evidence, toolName);
        return { passed: count === 0, reason: `${toolName} was ${formatTimes(count)}.` };
    }),
    firstToolWas: defineJudge(schemas/* object */.Ikc({ toolName }), ({ toolName }, { toolCalls: [first] }) => first === undefined
        ? { passed: false, reason: `no tool was called, so ${toolName} was not the first.` }
        : { passed: first.toolName === toolName, reason: `the first tool was ${first.toolName}, expected ${toolName}.` }),
    responseContains: defineJudge(schemas/* object */.Ikc({ needle: schemas/* string */.YjP().min(1), caseSensitive: schemas/* boolean */.zMY().optional() }), ({ needle, caseSensitive }, { finalAssistantMessage: message }) => {
        const passed = caseSensitive === true ? message.includes(needle) : message.toLowerCase().includes(needle.toLowerCase());
        return {
            passed,
            reason: `${describeMessage(message)} and ${passed ? 'contains' : 'does not contain'} ${printValue(needle)}.`,
        };
    }),
    responseMatches: defineJudge(schemas/* object */.Ikc({ pattern: schemas/* string */.YjP() }), judgeResponseMatches),
    noToolErrors: defineJudge(schemas/* object */.Ikc({}), (_, { toolResults }) => {
        const errors = toolResults.flatMap((result) => result.toolError ?? []);
        return { passed: errors.length === 0, reason: errors[0] ?? 'no tool answered with an error.' };
    }),
    finalAssistantMessageNonEmpty: defineJudge(schemas/* object */.Ikc({}), (_, { finalAssistantMessage: message }) => ({
        passed: message.trim() !== '',
        reason: `${describeMessage(message)}.`,
    })),
    tokenBudgetUnder: defineJudge(schemas/* object */.Ikc({ tokens: schemas/* int */.Whr().positive() }), ({ tokens }, { tokensUsed }) => tokensUsed === null
        ? { passed: false, reason: `no tokens were measured, so nothing is known to be under ${tokens}.` }
        : { passed: tokensUsed < tokens, reason: `${tokensUsed} tokens were used; the budget is under ${tokens}.` }),
    turnCountUnder: defineJudge(schemas/* object */.Ikc({ turns: schemas/* int */.Whr().positive() }), ({ turns }, { userMessages }) => ({
        passed: userMessages < turns,
        reason: `the user took ${userMessages === 1 ? '1 turn' : `${userMessages} turns`}; the limit is under ${turns}.`,
    })),
    widgetRendered: judgeNothingRendered,
    widgetRenderLatencyUnder: judgeNothingRendered,
    widgetNoConsoleErrors: judgeNothingRendered,
};
function judgeCalledWith(fields, evidence) {
    const { toolName, args, minCount = 1 } = fields;
    const calls = evidence.toolCalls.filter((call) => call.toolName === toolName);
    const fitting = calls.filter((call) => matchesArguments(args.args, call.arguments, args.argumentMatching ?? 'partial'));
    const passed = fitting.length >= minCount;
    const wanted = `${toolName} with ${printValue(args.args)}${minCount === 1 ? '' : ` at least ${minCount} times`}`;
    if (passed)
        return { passed, reason: `called ${wanted}.` };
    const latest = calls.findLast((call) => !fitting.includes(call));
    const actual = latest === undefined ? listCalled(evidence) : `the latest other call had ${printValue(latest.arguments)}`;
    return { passed, reason: `expected a call of ${wanted}, found ${fitting.length}; ${actual}.` };
}
function judgeResponseMatches({ pattern }, { finalAssistantMessage: message }) {
    if (nestedQuantifier.test(pattern)) {
        return { passed: false, reason: `the pattern ${printValue(pattern)} nests quantifiers, which can take for ever.` };
    }
    if (message.length > longestSearchedMessage) {
        return {
            passed: false,
            reason: `the final assistant message is longer than ${longestSearchedMessage} characters.`,
        };
    }
    let regExp;
    try {
        regExp = new RegExp(pattern);
    }
    catch {
        return { passed: false, reason: `the pattern ${printValue(pattern)} is not a regular expression.` };
    }
    const passed = regExp.test(message);
    return {
        passed,
        reason: `${describeMessage(message)} and ${passed ? 'matches' : 'does not match'} ${printValue(pattern)}.`,
    };
}
function judgeNothingRendered() {
    return { passed: false, reason: noBrowserReason };
}
function countCalls(evidence, toolName) {
    return evidence.toolCalls.filter((call) => call.toolName === toolName).length;
}
function formatTimes(count) {
    if (count === 0)
        return 'never called';
    return count === 1 ? 'called once' : `called ${count} times`;
}
function listCalled(evidence) {
    const names = [...new Set(evidence.toolCalls.map((call) => call.toolName))];
    return names.length === 0 ? 'no tool was called' : `tools called: ${names.join(', ')}`;
}
function describeMessage(message) {
    return message === ''
        ? 'the final assistant message is empty'
        : `the final assistant message is ${printValue(message)}`;
}

// EXTERNAL MODULE: ./node_modules/re2js/build/index.js
var build = __webpack_require__(2856);
;// CONCATENATED MODULE: ./lib/engine/json-pointer.js

/**
 * Finds the value that a JSON Pointer names in a document: `''` is the whole of it, `/items/0/name` a part. Only own
 * members count, and an array index is written without leading zeros. RFC 6901 §3–4.
 */
function findByPointer(document, pointer) {
    if (pointer !== '' && !pointer.startsWith('/'))
        return { kind: 'malformed' };
    if (/~(?![01])/.test(pointer))
        return { kind: 'malformed' };
    let found = { kind: 'found', value: document };
    for (const token of pointer.split('/').slice(1)) {
        // In this order, so that `~01` becomes `~1` and not `/`.
        found = findMember(found.value, token.replaceAll('~1', '/').replaceAll('~0', '~'));
        if (found.kind !== 'found')
            return found;
    }
    return found;
}
function findMember(value, key) {
    if (Array.isArray(value)) {
        const isIndex = /^(?:0|[1-9]\d*)$/.test(key) && Number(key) < value.length;
        return isIndex ? { kind: 'found', value: value[Number(key)] } : { kind: 'absent' };
    }
    return isJsonObject(value) && Object.hasOwn(value, key) ? { kind: 'found', value: value[key] } : { kind: 'absent' };
}

// EXTERNAL MODULE: ./node_modules/ajv/dist/ajv.js
var ajv = __webpack_require__(2463);
// EXTERNAL MODULE: ./node_modules/ajv/dist/2020.js
var _2020 = __webpack_require__(2210);
;// CONCATENATED MODULE: ./lib/engine/schema-check.js




/** Schemas of a suite are few and judged often. Beyond this many, everything compiled so far is let go. */
const maxCompiledSchemas = 200;
/**
 * Unknown keywords are ignored and formats are annotations, as JSON Schema 2020-12 §4.3.1 and §7.2.1 have it. Patterns
 * run in linear time, since neither the schema nor the value need be friendly. Nothing is ever fetched.
 */
const options = {
    strict: false,
    validateFormats: false,
    addUsedSchema: false,
    logger: false,
    code: { regExp: Object.assign(compilePattern, { code: 'undefined' }) },
};
let compiler = createCompiler();
function createCompiler() {
    return { draft2020: new _2020.Ajv2020(options), draft07: new ajv.Ajv(options), compiled: new Map() };
}
/** Checks a JSON value against a JSON Schema: 2020-12, or draft-07 where `$schema` says so. Never throws. */
function schema_check_checkSchema(schema, value) {
    const validate = compileSchema(schema);
    if (typeof validate === 'string')
        return { kind: 'unusable', reason: validate };
    if (validate(value))
        return { kind: 'valid' };
    return { kind: 'invalid', mismatch: describeMismatch(validate.errors?.[0]) };
}
function compileSchema(schema) {
    const key = JSON.stringify(schema);
    const known = compiler.compiled.get(key);
    if (known !== undefined)
        return known;
    if (compiler.compiled.size === maxCompiledSchemas)
        compiler = createCompiler();
    const validate = tryCompile(schema);
    compiler.compiled.set(key, validate);
    return validate;
}
function tryCompile(schema) {
    try {
        return (isDraft07(schema) ? compiler.draft07 : compiler.draft2020).compile(schema);
    }
    catch (error) {
        return (0,errors/* describeError */.Uc)(error);
    }
}
function isDraft07(schema) {
    const dialect = typeof schema === 'boolean' ? undefined : schema['$schema'];
    return typeof dialect === 'string' && /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(dialect);
}
function compilePattern(pattern) {
    const expression = build/* RE2JS */.L3.compile(pattern);
    // The validator tells patterns apart by what they print as, the way regular expressions do.
    return { test: (text) => expression.matcher(text).find(), toString: () => `/${pattern}/` };
}
function describeMismatch(error) {
    const detail = error?.keyword === 'additionalProperties' ? `: ${JSON.stringify(error.params['additionalProperty'])}` : '';
    return `${error?.instancePath || 'it'} ${error?.message ?? 'does not fit'}${detail}`;
}

;// CONCATENATED MODULE: ./lib/engine/predicates/tool-result.js







const tool_result_toolName = schemas/* string */.YjP().min(1).optional();
const schemaShape = schemas/* custom */.IeY((value) => typeof value === 'boolean' || isJsonObject(value), 'expected a JSON Schema: an object or a boolean');
/** Assertions on what a tool answered: the latest result, or the latest of `toolName`. Where there is none they fail. */
const toolResultJudges = {
    toolResultContains: defineResultJudge(schemas/* object */.Ikc({ text: schemas/* string */.YjP().min(1), caseSensitive: schemas/* boolean */.zMY().optional(), toolName: tool_result_toolName }), ({ text, caseSensitive }, result) => {
        const passed = caseSensitive === true ? result.text.includes(text) : result.text.toLowerCase().includes(text.toLowerCase());
        return {
            passed,
            reason: `${describeText(result)} and ${passed ? 'contains' : 'does not contain'} ${printValue(text)}.`,
        };
    }),
    toolResultMatches: defineResultJudge(schemas/* object */.Ikc({ pattern: schemas/* string */.YjP(), toolName: tool_result_toolName }), judgeMatches),
    toolResultEquals: defineResultJudge(schemas/* object */.Ikc({ value: schemas/* unknown */.L5J(), path: schemas/* string */.YjP().optional(), toolName: tool_result_toolName })
        .refine((fields) => fields.value !== undefined, {
        path: ['value'],
        message: 'expected a value',
    }), judgeEquals),
    toolResultSchema: defineResultJudge(schemas/* object */.Ikc({ schema: schemaShape, toolName: tool_result_toolName }), judgeSchema),
    toolResultIsError: defineResultJudge(schemas/* object */.Ikc({ isError: schemas/* boolean */.zMY(), toolName: tool_result_toolName }), ({ isError }, result) => ({
        passed: result.isError === isError,
        reason: `${describeText(result)} and is ${result.isError ? 'an error' : 'no error'}, expected ${isError ? 'an error' : 'none'}.`,
    })),
    toolLatencyUnder: defineResultJudge(schemas/* object */.Ikc({ ms: schemas/* number */.aig().positive(), toolName: tool_result_toolName }), ({ ms }, result) => ({
        passed: result.latencyMs < ms,
        reason: `${result.toolName} took ${formatLatency(result.latencyMs)}; the limit is under ${formatLatency(ms)}.`,
    })),
};
function defineResultJudge(schema, judge) {
    return defineJudge(schema, (fields, evidence) => {
        const result = findLatestResult(evidence, fields.toolName);
        if (result !== undefined)
            return judge(fields, result);
        const who = fields.toolName === undefined ? 'no tool has answered' : `${fields.toolName} has not answered`;
        return { passed: false, reason: `${who}.` };
    });
}
function findLatestResult({ toolResults }, toolName) {
    return toolName === undefined ? toolResults.at(-1) : toolResults.findLast((result) => result.toolName === toolName);
}
function judgeMatches({ pattern }, result) {
    let expression;
    try {
        expression = build/* RE2JS */.L3.compile(pattern);
    }
    catch {
        return {
            passed: false,
            reason: `the pattern ${printValue(pattern)} is not an RE2 regular expression, which has no look-around and no back-references.`,
        };
    }
    const passed = expression.matcher(result.text).find();
    return {
        passed,
        reason: `${describeText(result)} and ${passed ? 'matches' : 'does not match'} ${printValue(pattern)}.`,
    };
}
function judgeEquals({ value, path = '' }, result) {
    const document = readDocument(result);
    if (document === undefined)
        return judgeNoDocument(result);
    const found = findByPointer(document.value, path);
    if (found.kind === 'malformed') {
        return { passed: false, reason: `the path ${printValue(path)} is not a JSON Pointer, such as "/items/0/name".` };
    }
    const place = path === '' ? `the result of ${result.toolName}` : `${path} in the result of ${result.toolName}`;
    if (found.kind === 'absent') {
        return { passed: false, reason: `${place} does not exist, expected ${printValue(value)}.` };
    }
    return {
        passed: isJsonEqual(value, found.value),
        reason: `${place} is ${printValue(found.value)}, expected ${printValue(value)}.`,
    };
}
function judgeSchema({ schema }, result) {
    const document = readDocument(result);
    if (document === undefined)
        return judgeNoDocument(result);
    const check = schema_check_checkSchema(schema, document.value);
    const place = `the result of ${result.toolName}`;
    if (check.kind === 'unusable')
        return { passed: false, reason: `the schema cannot be used: ${check.reason}.` };
    if (check.kind === 'valid')
        return { passed: true, reason: `${place} fits the schema.` };
    return {
        passed: false,
        reason: `${place} is ${printValue(document.value)} and does not fit the schema: ${check.mismatch}.`,
    };
}
/** The result as a JSON document: its structuredContent, else its text where that parses. */
function readDocument(result) {
    if (result.structuredContent !== undefined)
        return { value: result.structuredContent };
    try {
        return { value: JSON.parse(result.text) };
    }
    catch {
        return undefined;
    }
}
function judgeNoDocument(result) {
    return { passed: false, reason: `${describeText(result)}, which is not JSON, and it has no structuredContent.` };
}
function describeText(result) {
    return `the result of ${result.toolName} is ${printValue(result.text)}`;
}
function formatLatency(latencyMs) {
    return `${Number(latencyMs.toFixed(1))} ms`;
}

;// CONCATENATED MODULE: ./lib/engine/predicates/judge.js





const judges = { ...apiJudges, ...toolResultJudges };
/**
 * Judges one predicate on the transcript so far. Fails closed: an unknown type, a malformed field, missing evidence
 * and even a fault in here are a failed predicate with a reason, never an exception and never a skip.
 */
function judgePredicate(predicate, evidence) {
    const type = isJsonObject(predicate) ? predicate['type'] : undefined;
    const judge = typeof type === 'string' && Object.hasOwn(judges, type) ? judges[type] : undefined;
    if (judge === undefined) {
        return { passed: false, reason: `unknown predicate type ${printValue(type)}: nothing can be judged by it.` };
    }
    try {
        const { passed, reason } = judge(predicate, evidence);
        return { passed, reason: clipReason(`${String(type)}: ${reason}`) };
    }
    catch (error) {
        return { passed: false, reason: clipReason(`${String(type)}: malformed predicate: ${(0,errors/* describeError */.Uc)(error)}`) };
    }
}

;// CONCATENATED MODULE: ./lib/engine/match-calls.js

/**
 * Compares the tool calls of one turn with the expected ones.
 *
 * `any` pairs greedily, each expected call in its order with the first free call that fits; that can miss a pairing
 * which a search would find, and is what the API does. `in-order` is one forward pass that skips extras. `exact` pairs
 * by position. Extra calls are limited by `extraToolCalls` alone, whatever the order.
 */
function matchCalls(expected, actual, options) {
    const fits = (wanted, call) => call !== undefined &&
        call.toolName === wanted.toolName &&
        matchesArguments(wanted.arguments, call.arguments, options.arguments);
    const pairs = pairCalls(expected, actual, fits, options.toolCallOrder);
    const free = new Set(actual.keys().filter((index) => !pairs.includes(index)));
    const result = { passed: false, missing: [], unexpected: [], argumentMismatches: [] };
    for (const [index, wanted] of expected.entries()) {
        if (pairs[index] !== undefined)
            continue;
        // One that would fit is in the wrong place, and its arguments are not what is wrong with it.
        const sameTool = free
            .values()
            .find((candidate) => actual[candidate]?.toolName === wanted.toolName && !fits(wanted, actual[candidate]));
        const call = sameTool === undefined ? undefined : actual[sameTool];
        if (sameTool === undefined || call === undefined) {
            result.missing.push(wanted);
        }
        else {
            free.delete(sameTool);
            result.argumentMismatches.push({ expected: wanted, actual: call });
        }
    }
    result.unexpected = actual.filter((_, index) => free.has(index));
    const extras = actual.length - pairs.filter((pair) => pair !== undefined).length;
    result.passed =
        !pairs.includes(undefined) && (options.extraToolCalls === 'unlimited' || extras <= options.extraToolCalls);
    return result;
}
/** For every expected call the index of the actual call it is paired with. */
function pairCalls(expected, actual, fits, order) {
    if (order === 'exact') {
        return expected.map((wanted, index) => (fits(wanted, actual[index]) ? index : undefined));
    }
    const used = new Set();
    let lowest = 0;
    return expected.map((wanted) => {
        const index = actual.findIndex((call, index) => index >= lowest && !used.has(index) && fits(wanted, call));
        if (index === -1)
            return undefined;
        used.add(index);
        if (order === 'in-order')
            lowest = index + 1;
        return index;
    });
}

;// CONCATENATED MODULE: ./lib/engine/turns.js


/** The calls expected in each turn: those of the `toolCalledWith` asserts between its prompt and the next one. */
function listExpectedCalls(steps) {
    const turns = [];
    for (const step of steps) {
        if (step.kind === 'prompt')
            turns.push([]);
        if (step.kind !== 'assert' || !('type' in step.assertion) || step.assertion.type !== 'toolCalledWith')
            continue;
        const { toolName, args } = step.assertion;
        turns.at(-1)?.push({ toolName, arguments: args.args });
    }
    return turns;
}
/**
 * Judges the calls of every turn that took place. A negative case is the opposite of a matching one: a turn passes if
 * and only if the model called nothing.
 */
function judgeTurns(turns, expected, { match, isNegative }) {
    return turns.map(({ prompt, actualToolCalls }, promptIndex) => {
        const expectedToolCalls = isNegative ? [] : (expected[promptIndex] ?? []);
        const options = isNegative ? { ...match, extraToolCalls: 0 } : match;
        const matched = matchCalls(expectedToolCalls, actualToolCalls, options);
        return { promptIndex, prompt, expectedToolCalls, actualToolCalls, ...matched };
    });
}
/** Says in one sentence what is wrong with a turn's calls; null where nothing is. */
function describeTurn(turn) {
    if (turn.passed)
        return null;
    const parts = [
        describeNames('did not call', turn.missing),
        describeNames('called with other arguments than expected', turn.argumentMismatches.map((mismatch) => mismatch.expected)),
        describeNames('called unexpectedly', turn.unexpected),
    ].filter((part) => part !== null);
    return clipReason(`In turn ${turn.promptIndex + 1} the model ${parts.join('; ')}.`);
}
function describeNames(what, calls) {
    return calls.length === 0 ? null : `${what} ${calls.map((call) => call.toolName).join(', ')}`;
}

;// CONCATENATED MODULE: ./lib/engine/outcome.js



const completed = { status: 'completed', reason: null };
/** Judges what the steps left to be judged and puts the record together. */
function buildOutcome(testCase, { transcript, steps, ending }) {
    const durationMs = Math.round(transcript.elapsedMs());
    const expected = listExpectedCalls(testCase.steps);
    const prompts = judgeTurns(transcript.turns, expected, {
        match: testCase.matchOptions === undefined ? model_case/* defaultMatchOptions */.nk : (0,model_case/* toPublicMatchOptions */.Ib)(testCase.matchOptions),
        isNegative: testCase.isNegativeTest ?? false,
    });
    const predicates = ending.status === 'completed' ? judgeChecks(testCase, transcript) : [];
    const error = ending.reason ??
        steps.find((step) => step.status === 'fail')?.reason ??
        predicates.find((check) => !check.passed)?.reason ??
        prompts.map(describeTurn).find((reason) => reason !== null) ??
        null;
    const isScored = ending.status === 'completed' || ending.status === 'timed_out';
    return {
        status: ending.status,
        result: isScored ? (error === null ? 'passed' : 'failed') : null,
        error,
        steps: testCase.steps.map(({ id, kind }, stepIndex) => steps[stepIndex] ?? { stepId: id, stepIndex, kind, status: 'skipped', reason: null }),
        actualToolCalls: transcript.toolCalls,
        expectedToolCalls: expected.flat(),
        startedAtMs: transcript.startedAtMs,
        durationMs,
        trace: { messages: transcript.messages, spans: transcript.spans, prompts, metadata: { predicates } },
        predicates,
    };
}
function judgeChecks(testCase, transcript) {
    return listChecks(testCase).map((predicate) => ({ predicate, ...judgePredicate(predicate, transcript) }));
}
/** The checks a case ends with. One that inherits has none: there is no suite here, and compiling one fills them in. */
function listChecks({ predicates }) {
    return predicates === undefined || predicates.mode === 'inherit' ? [] : predicates.list;
}

;// CONCATENATED MODULE: ./lib/engine/steps/assert.js


/** Judges an assert step on the transcript so far. A failed one ends the iteration. */
function runAssertStep(assertion, evidence) {
    if (!('type' in assertion))
        return { status: 'fail', reason: `${assertion.kind}: ${noBrowserReason}`, effect: 'stop' };
    const { passed, reason } = judgePredicate(assertion, evidence);
    return passed ? { status: 'ok', reason: null, effect: 'continue' } : { status: 'fail', reason, effect: 'stop' };
}

// EXTERNAL MODULE: ./lib/model/suite.js
var model_suite = __webpack_require__(4141);
;// CONCATENATED MODULE: ./lib/engine/output-schemas.js


/** Asked once per target, not once per iteration: schemas do not change between the iterations of a run. */
const declaredSchemas = new WeakMap();
/**
 * Says in one sentence how a result breaks the output schema that its own tool declares; null where it does not, or
 * where the tool declares none. A server must keep to its schema (MCP 2025-06-18, "Output Schema"), and clients refuse
 * results that do not. A schema that cannot be compiled is not held against the result.
 *
 * @throws the signal's reason once it aborts.
 */
async function findSchemaViolation(toolName, result, context) {
    if (result.isError === true)
        return null;
    const schemas = declaredSchemas.get(context.target) ?? (await readDeclaredSchemas(context));
    const schema = schemas.get(toolName);
    if (schema === undefined)
        return null;
    if (result.structuredContent === undefined) {
        return `${toolName} declares an outputSchema and answered without structuredContent.`;
    }
    const check = schema_check_checkSchema(schema, result.structuredContent);
    if (check.kind !== 'invalid')
        return null;
    return `${toolName} answered with structuredContent that breaks its own outputSchema: ${check.mismatch}.`;
}
async function readDeclaredSchemas(context) {
    let schemas = new Map();
    try {
        schemas = await context.session.listOutputSchemas(context);
    }
    catch (error) {
        context.signal.throwIfAborted();
        // A connection that broke says nothing about the tools: the next call will find out, or a later iteration asks again.
        if (classifyCallFault(error).kind === 'unreachable')
            return schemas;
    }
    declaredSchemas.set(context.target, schemas);
    return schemas;
}

;// CONCATENATED MODULE: ./lib/engine/transcript.js
/** Everything an iteration did so far, as evidence for its assertions and for the trace. */
class Transcript {
    startedAtMs;
    messages = [];
    spans = [];
    turns = [];
    toolCalls = [];
    toolResults = [];
    /** No model takes part yet, so there is nothing to measure. */
    tokensUsed = null;
    #clock;
    #startedAtMonotonicMs;
    constructor(clock) {
        this.#clock = clock;
        this.startedAtMs = clock.now();
        this.#startedAtMonotonicMs = clock.monotonicMs();
    }
    get userMessages() {
        return this.messages.filter((message) => message.role === 'user').length;
    }
    get finalAssistantMessage() {
        const content = this.messages.findLast((message) => message.role === 'assistant')?.content ?? '';
        if (typeof content === 'string')
            return content;
        return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    }
    elapsedMs() {
        return this.#clock.monotonicMs() - this.#startedAtMonotonicMs;
    }
    /** Records a step that ended now. */
    addStepSpan(step, stepIndex, timing) {
        this.spans.push({
            id: stepSpanId(stepIndex),
            name: step.kind,
            category: 'step',
            startMs: this.#toEpochMs(timing.startMs),
            endMs: this.#toEpochMs(this.elapsedMs()),
            status: timing.isOk ? 'ok' : 'error',
            stepIndex,
            authoredStepId: step.id,
        });
    }
    /** Records a call that begins now, made by a step rather than a model. */
    beginPinnedCall(call, step, stepIndex) {
        const { toolName } = call;
        const toolCallId = `call_${this.toolCalls.length + 1}`;
        const startMs = this.elapsedMs();
        this.toolCalls.push(call);
        this.messages.push({
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId, toolName, input: call.arguments }],
        });
        const addSpan = (endMs, isOk, mcpErrorCode) => {
            this.spans.push({
                id: toolCallId,
                parentId: stepSpanId(stepIndex),
                name: toolName,
                category: 'tool',
                startMs: this.#toEpochMs(startMs),
                endMs: this.#toEpochMs(endMs),
                status: isOk ? 'ok' : 'error',
                stepIndex,
                authoredStepId: step.id,
                toolCallId,
                toolName,
                ...(mcpErrorCode !== null && { mcpErrorCode }),
            });
        };
        return {
            complete: (output) => {
                addSpan(output.answeredAtMs, output.toolError === null, output.kind === 'error' ? output.code : null);
                this.messages.push({
                    role: 'tool',
                    content: [
                        {
                            type: 'tool-result',
                            toolCallId,
                            toolName,
                            output: output.kind === 'result'
                                ? { type: 'json', value: output.result }
                                : { type: 'error-text', value: output.message },
                            ...(output.toolError !== null && { isError: true }),
                        },
                    ],
                });
                const result = readResult(toolName, output, output.answeredAtMs - startMs);
                this.toolResults.push(result);
                return result;
            },
            abandon: () => addSpan(this.elapsedMs(), false, null),
        };
    }
    #toEpochMs(elapsedMs) {
        return Math.round(this.startedAtMs + elapsedMs);
    }
}
function stepSpanId(stepIndex) {
    return `step_${stepIndex + 1}`;
}
function readResult(toolName, output, latencyMs) {
    const { toolError } = output;
    if (output.kind === 'error') {
        return { toolName, text: output.message, structuredContent: undefined, isError: true, toolError, latencyMs };
    }
    return {
        toolName,
        text: transcript_readText(output.result),
        structuredContent: output.result.structuredContent,
        isError: output.result.isError === true,
        toolError,
        latencyMs,
    };
}
/** The text blocks of a result, one per line. */
function transcript_readText(result) {
    return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

;// CONCATENATED MODULE: ./lib/engine/steps/tool-call.js






/**
 * Calls the tool that a step pins. An error from a live server, JSON-RPC errors included, is recorded as the tool's
 * answer and the case goes on; where the server cannot be reached, the iteration is given up.
 *
 * @throws the signal's reason once it aborts.
 */
async function runToolCallStep(step, context) {
    const { toolName } = step;
    const isOurs = step.serverId !== undefined || [model_suite/* serverUnderTest */.a, context.target.serverName].includes(step.serverName);
    if (!isOurs) {
        const reason = `The step calls server ${printValue(step.serverName)}, and only ${printValue(context.target.serverName)} is under test.`;
        return { status: 'fail', reason, effect: 'give-up' };
    }
    const record = context.transcript.beginPinnedCall({ toolName, arguments: step.arguments }, step, context.stepIndex);
    const answer = await callTool(step, context).catch((error) => {
        record.abandon();
        throw error;
    });
    const evidence = { name: toolName, args: step.arguments };
    if (answer.kind === 'unreachable') {
        record.abandon();
        const reason = clipReason((0,sentence/* endSentence */.H)(`The server gave no answer to ${toolName}: ${answer.message}`));
        return {
            status: 'fail',
            reason,
            effect: 'give-up',
            evidence: { toolCalls: [{ ...evidence, ok: false, error: reason }] },
        };
    }
    const { toolError } = record.complete(answer);
    if (toolError === null) {
        return { status: 'ok', reason: null, effect: 'continue', evidence: { toolCalls: [{ ...evidence, ok: true }] } };
    }
    return {
        status: context.doToolErrorsFail ? 'fail' : 'ok',
        reason: context.doToolErrorsFail ? toolError : null,
        effect: 'continue',
        evidence: { toolCalls: [{ ...evidence, ok: false, error: toolError }] },
    };
}
async function callTool(step, context) {
    const { toolName } = step;
    let result;
    try {
        result = await context.session.callTool(toolName, step.arguments, context);
    }
    catch (error) {
        context.signal.throwIfAborted();
        const fault = classifyCallFault(error);
        if (fault.kind === 'unreachable')
            return fault;
        const answeredAtMs = context.transcript.elapsedMs();
        const code = fault.code === null ? '' : ` with JSON-RPC error ${fault.code}`;
        const toolError = `${toolName} failed${code}: ${printValue(fault.message)}.`;
        return { kind: 'error', message: fault.message, toolError, code: fault.code, answeredAtMs };
    }
    const answeredAtMs = context.transcript.elapsedMs();
    const toolError = result.isError === true
        ? `${toolName} answered with an error: ${printValue(transcript_readText(result))}.`
        : await findSchemaViolation(toolName, result, context);
    return { kind: 'result', result, toolError: toolError === null ? null : clipReason(toolError), answeredAtMs };
}

;// CONCATENATED MODULE: ./lib/engine/run-case.js
var run_case_addDisposableResource = (undefined && undefined.__addDisposableResource) || function (env, value, async) {
    if (value !== null && value !== void 0) {
        if (typeof value !== "object" && typeof value !== "function") throw new TypeError("Object expected.");
        var dispose, inner;
        if (async) {
            if (!Symbol.asyncDispose) throw new TypeError("Symbol.asyncDispose is not defined.");
            dispose = value[Symbol.asyncDispose];
        }
        if (dispose === void 0) {
            if (!Symbol.dispose) throw new TypeError("Symbol.dispose is not defined.");
            dispose = value[Symbol.dispose];
            if (async) inner = dispose;
        }
        if (typeof dispose !== "function") throw new TypeError("Object not disposable.");
        if (inner) dispose = function() { try { inner.call(this); } catch (e) { return Promise.reject(e); } };
        env.stack.push({ value: value, dispose: dispose, async: async });
    }
    else if (async) {
        env.stack.push({ async: true });
    }
    return value;
};
var run_case_disposeResources = (undefined && undefined.__disposeResources) || (function (SuppressedError) {
    return function (env) {
        function fail(e) {
            env.error = env.hasError ? new SuppressedError(e, env.error, "An error was suppressed during disposal.") : e;
            env.hasError = true;
        }
        var r, s = 0;
        function next() {
            while (r = env.stack.pop()) {
                try {
                    if (!r.async && s === 1) return s = 0, env.stack.push(r), Promise.resolve().then(next);
                    if (r.dispose) {
                        var result = r.dispose.call(r.value);
                        if (r.async) return s |= 2, Promise.resolve(result).then(next, function(e) { fail(e); return next(); });
                    }
                    else s |= 1;
                }
                catch (e) {
                    fail(e);
                }
            }
            if (s === 1) return env.hasError ? Promise.reject(env.error) : Promise.resolve();
            if (env.hasError) throw env.error;
        }
        return next();
    };
})(typeof SuppressedError === "function" ? SuppressedError : function (error, suppressed, message) {
    var e = new Error(message);
    return e.name = "SuppressedError", e.error = error, e.suppressed = suppressed, e;
});











/**
 * A handshake may wait for a process to start, on a machine that is busy starting others; a case that is to be quick is no
 * reason to give it less. Where the case may take longer, so may the handshake.
 */
const run_case_connectTimeoutMs = 60_000;
/**
 * Runs one iteration of a case in an MCP session of its own, and judges it. Resolves whatever the server does.
 *
 * The case's own `timeoutMs` wins over the one given; it begins once the session is open. A step that asks for what does not
 * exist here does not pass: `interact` and widget assertions fail, a `prompt` ends the iteration without a result.
 *
 * The iteration passes when every step did, every check holds on the whole transcript, no tool answered with an error
 * (unless `failOnToolError` is false or the case asserts `toolResultIsError: true`), and the model's calls match the
 * expected ones in every turn. A negative case is one in which the model must call nothing: calls that steps pin are
 * the author's, not the model's, and do not count.
 */
async function runCase(testCase, target, options) {
    const env_1 = { stack: [], error: void 0, hasError: false };
    try {
        const { clock } = options;
        const timeoutMs = testCase.advancedConfig?.timeoutMs ?? options.timeoutMs;
        const transcript = new Transcript(clock);
        const opened = await run_case_connect(target, {
            clock,
            signal: options.signal,
            timeoutMs: Math.max(timeoutMs, run_case_connectTimeoutMs),
        });
        if ('ending' in opened)
            return buildOutcome(testCase, { transcript, steps: [], ending: opened.ending });
        const session = run_case_addDisposableResource(env_1, opened.session, true);
        const limit = run_case_addDisposableResource(env_1, startIterationLimit(clock, timeoutMs, options.signal), false);
        const steps = [];
        const context = { session, target, transcript, signal: limit.signal, doToolErrorsFail: doToolErrorsFail(testCase) };
        const ending = await runSteps(testCase.steps, { ...context, steps, limit, timeoutMs });
        return buildOutcome(testCase, { transcript, steps, ending });
    }
    catch (e_1) {
        env_1.error = e_1;
        env_1.hasError = true;
    }
    finally {
        const result_1 = run_case_disposeResources(env_1);
        if (result_1)
            await result_1;
    }
}
async function run_case_connect(target, { clock, signal, timeoutMs }) {
    const env_2 = { stack: [], error: void 0, hasError: false };
    try {
        const limit = run_case_addDisposableResource(env_2, startIterationLimit(clock, timeoutMs, signal), false);
        try {
            return { session: await openSession(target, { clock, signal: limit.signal }) };
        }
        catch (error) {
            const stoppedBy = limit.stoppedBy();
            if (stoppedBy === 'caller')
                return { ending: { status: 'cancelled', reason: 'Cancelled before the first step.' } };
            // Unlike a tool that hangs, a server that cannot be connected to says nothing about the case.
            const reason = stoppedBy === 'timeout'
                ? `The server did not complete the handshake within ${(0,deadline/* formatDuration */.a3)(timeoutMs)}.`
                : clipReason((0,sentence/* endSentence */.H)(`The server could not be connected to: ${describeUnreachable(error)}`));
            return { ending: { status: 'failed', reason } };
        }
    }
    catch (e_2) {
        env_2.error = e_2;
        env_2.hasError = true;
    }
    finally {
        run_case_disposeResources(env_2);
    }
}
/** Runs the steps in order until one ends the iteration, and leaves a result in `steps` for each one it began. */
async function runSteps(steps, context) {
    const { transcript } = context;
    for (const [stepIndex, step] of steps.entries()) {
        const startMs = transcript.elapsedMs();
        let outcome;
        let ending = null;
        try {
            context.signal.throwIfAborted();
            outcome = await runStep(step, { ...context, stepIndex });
            if (outcome.effect === 'stop')
                ending = completed;
            if (outcome.effect === 'give-up')
                ending = { status: 'failed', reason: outcome.reason };
        }
        catch (error) {
            ending = describeInterruption(step, context);
            if (ending === null)
                throw error;
            const status = ending.status === 'cancelled' ? 'skipped' : 'fail';
            outcome = { status, reason: ending.reason, effect: 'stop' };
        }
        transcript.addStepSpan(step, stepIndex, { startMs, isOk: outcome.status === 'ok' });
        const { status, reason, evidence } = outcome;
        context.steps.push({ stepId: step.id, stepIndex, kind: step.kind, status, reason, ...(evidence && { evidence }) });
        if (ending !== null)
            return ending;
    }
    return completed;
}
async function runStep(step, context) {
    if (step.kind === 'toolCall')
        return await runToolCallStep(step, context);
    if (step.kind === 'assert')
        return runAssertStep(step.assertion, context.transcript);
    if (step.kind === 'interact')
        return { status: 'fail', reason: noBrowserReason, effect: 'stop' };
    context.transcript.turns.push({ prompt: step.prompt, actualToolCalls: [] });
    return { status: 'fail', reason: 'Prompt steps need a model, and none is available here.', effect: 'give-up' };
}
function describeInterruption(step, { limit, timeoutMs }) {
    const stoppedBy = limit.stoppedBy();
    if (stoppedBy === null)
        return null;
    const place = `in step "${step.id}"${step.kind === 'toolCall' ? ` (tool ${step.toolName})` : ''}.`;
    return stoppedBy === 'caller'
        ? { status: 'cancelled', reason: `Cancelled ${place}` }
        : { status: 'timed_out', reason: `Timed out after ${(0,deadline/* formatDuration */.a3)(timeoutMs)} ${place}` };
}
function doToolErrorsFail(testCase) {
    if (testCase.advancedConfig?.failOnToolError === false)
        return false;
    const asserted = testCase.steps.flatMap((step) => (step.kind === 'assert' ? step.assertion : []));
    return ![...asserted, ...listChecks(testCase)].some((check) => 'type' in check && check.type === 'toolResultIsError' && check.isError);
}

// EXTERNAL MODULE: ./lib/model/rate.js
var rate = __webpack_require__(8963);
;// CONCATENATED MODULE: ./lib/embedded/runner.js





function createRunner(options) {
    const { store, clock, logger } = options;
    const active = new Map();
    /** The one way in which runs end: whoever comes first decides, and nothing is left open. */
    const end = (runId, status, failure) => {
        active.get(runId)?.abort.abort(new Error('The run has ended.'));
        store.transact(() => {
            const run = store.runs.get(runId);
            const isPassed = run !== undefined && (0,rate/* meetsMinimumPassRate */.W7)(run.passed, run.total, run.minimumPassRate / 100);
            const result = status === 'completed' ? (isPassed ? 'passed' : 'failed') : null;
            store.runs.end(runId, { status, result, failure, now: clock.now() });
            store.iterations.cancel(runId);
        });
    };
    const runIteration = async (runId, iteration, signal) => {
        if (signal.aborted)
            return;
        const { id, testCase, target } = iteration;
        try {
            store.iterations.start(id, clock.now());
            const outcome = await runCase(testCase, target, { clock, signal, timeoutMs: options.iterationTimeoutMs });
            store.transact(() => {
                if (store.iterations.end(id, outcome) && outcome.result !== null)
                    store.runs.count(runId, outcome.result);
            });
            if (!signal.aborted && outcome.result === null)
                end(runId, 'failed', describeInfrastructure(testCase, outcome));
        }
        catch (error) {
            end(runId, 'failed', `The service failed at case ${JSON.stringify(testCase.title)}: ${(0,errors/* describeError */.Uc)(error)}`);
        }
    };
    const execute = async (runId, iterations, signal) => {
        void clock.sleep(options.runTimeoutMs, { signal }).then(() => end(runId, 'timed_out', `The run took longer than ${(0,deadline/* formatDuration */.a3)(options.runTimeoutMs)}.`), () => { });
        await (0,p_map/* default */.Ay)(iterations, (iteration) => runIteration(runId, iteration, signal), {
            concurrency: options.concurrency,
            // What is under way still writes to the store, so all of it settles before the run counts as over.
            stopOnError: false,
        });
        if (!signal.aborted)
            end(runId, 'completed', null);
    };
    return {
        start: (runId, iterations) => {
            const abort = new AbortController();
            const settled = Promise.withResolvers();
            active.set(runId, { abort, settled: settled.promise });
            void execute(runId, iterations, abort.signal)
                // Only a store that cannot be written leads here; the record says so when the store is opened again.
                .catch((error) => logger.error(`Run ${runId} broke off: ${(0,errors/* describeError */.Uc)(error)}`))
                .finally(() => {
                active.delete(runId);
                settled.resolve();
            });
        },
        cancel: (runId) => end(runId, 'cancelled', null),
        countActive: () => active.size,
        [Symbol.asyncDispose]: async () => {
            const runs = [...active];
            for (const [runId] of runs)
                end(runId, 'cancelled', 'The service was stopped while the run was executing.');
            await Promise.all(runs.map(([, { settled }]) => settled));
        },
    };
}
function describeInfrastructure(testCase, { error }) {
    return `Nothing could be established about case ${JSON.stringify(testCase.title)}: ${error ?? 'no reason was given'}`;
}

// EXTERNAL MODULE: external "node:fs"
var external_node_fs_ = __webpack_require__(3024);
// EXTERNAL MODULE: external "node:path"
var external_node_path_ = __webpack_require__(6760);
// EXTERNAL MODULE: external "node:sqlite"
var external_node_sqlite_ = __webpack_require__(99);
;// CONCATENATED MODULE: ./lib/embedded/store/idempotency.js

const answerRow = schemas/* object */.Ikc({ fingerprint: schemas/* string */.YjP(), answer: schemas/* string */.YjP() });
/** What was answered to requests that carried an idempotency key. */
function createIdempotencyStore(database) {
    const insert = database.prepare('insert into idempotency_keys values (:scope, :key, :fingerprint, :answer)');
    const select = database.prepare('select fingerprint, answer from idempotency_keys where scope = ? and key = ?');
    return {
        get: (scope, key) => answerRow.optional().parse(select.get(scope, key)),
        insert: (entry) => {
            insert.run(entry);
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/store/iterations.js


const iterationRow = schemas/* object */.Ikc({
    position: schemas/* number */.aig(),
    id: schemas/* string */.YjP(),
    caseId: schemas/* string */.YjP(),
    title: schemas/* string */.YjP(),
    iterationNumber: schemas/* number */.aig(),
    status: schemas/* string */.YjP(),
    result: schemas/* enum */.k5n(['passed', 'failed']).nullable(),
    startedAt: schemas/* number */.aig().nullable(),
    durationMs: schemas/* number */.aig().nullable(),
    error: schemas/* string */.YjP().nullable(),
    toolCalls: jsonColumn().nullable(),
});
const stepsRow = schemas/* object */.Ikc({ steps: jsonColumn().nullable() });
const traceRow = schemas/* object */.Ikc({ document: schemas/* string */.YjP() });
/** Iterations of runs, planned as `pending` when the run is created. */
function createIterationStore(database) {
    const insert = database.prepare(`
    insert into iterations (run_id, position, id, case_id, title, iteration_number, status)
    values (:runId, :position, :id, :caseId, :title, :iterationNumber, 'pending')`);
    const start = database.prepare(`update iterations set status = 'running', started_at = ? where id = ?`);
    const end = database.prepare(`
    update iterations set status = :status, result = :result, started_at = :startedAtMs, duration_ms = :durationMs,
      error = :error, tool_calls = :toolCalls, steps = :steps
    where id = :id and status = 'running'`);
    const insertTrace = database.prepare('insert into traces values (?, ?)');
    const cancel = database.prepare(`
    update iterations set status = 'cancelled' where run_id = ? and status in ('pending', 'running')`);
    const cancelAll = database.prepare(`
    update iterations set status = 'cancelled' where status in ('pending', 'running')`);
    const selectPage = database.prepare(`
    select position, id, case_id as caseId, title, iteration_number as iterationNumber, status, result,
      started_at as startedAt, duration_ms as durationMs, error, tool_calls as toolCalls
    from iterations where run_id = ? and position > ? order by position limit ?`);
    const selectSteps = database.prepare('select steps from iterations where run_id = ? and id = ?');
    const selectTrace = database.prepare(`
    select document from traces join iterations on id = iteration_id where run_id = ? and id = ?`);
    return {
        /** Up to `limit` iterations behind a position (−1: from the start). */
        list: (runId, afterPosition, limit) => schemas/* array */.YOg(iterationRow).parse(selectPage.all(runId, afterPosition, limit)),
        /** Undefined where there is no such iteration; empty until it has ended. */
        getSteps: (runId, id) => {
            const row = stepsRow.optional().parse(selectSteps.get(runId, id));
            return row === undefined ? undefined : (row.steps ?? []);
        },
        /** The trace as JSON text; undefined where none is kept. */
        getTrace: (runId, id) => traceRow.optional().parse(selectTrace.get(runId, id))?.document,
        insert: (iteration) => {
            insert.run({ ...iteration });
        },
        start: (id, now) => {
            start.run(now, id);
        },
        /** Returns whether this call ended it: one that was cancelled meanwhile stays so. */
        end: (id, outcome) => {
            const { status, result, error, startedAtMs, durationMs, trace, steps } = outcome;
            const toolCalls = JSON.stringify({ actual: outcome.actualToolCalls, expected: outcome.expectedToolCalls });
            const ended = { id, status, result, error, startedAtMs, durationMs, toolCalls, steps: JSON.stringify(steps) };
            if (end.run(ended).changes === 0)
                return false;
            insertTrace.run(id, JSON.stringify(trace));
            return true;
        },
        cancel: (runId) => {
            cancel.run(runId);
        },
        cancelAll: () => {
            cancelAll.run();
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/store/projects.js


const projects_select = 'select id, name, record as content, created_at as createdAt, updated_at as updatedAt';
const projectRow = schemas/* object */.Ikc({
    id: schemas/* string */.YjP(),
    name: schemas/* string */.YjP(),
    content: jsonColumn(),
    createdAt: schemas/* number */.aig(),
    updatedAt: schemas/* number */.aig(),
});
/** Projects; a store always has one, and the oldest is the one that short paths mean. */
function createProjectStore(database) {
    const insert = database.prepare('insert into projects values (:id, :name, :record, :now, :now)');
    const selectOne = database.prepare(`${projects_select} from projects where id = ?`);
    const selectAll = database.prepare(`${projects_select} from projects order by created_at, rowid`);
    return {
        list: () => schemas/* array */.YOg(projectRow).parse(selectAll.all()),
        get: (id) => projectRow.optional().parse(selectOne.get(id)),
        insert: (project) => {
            const { id, name, content, now } = project;
            insert.run({ id, name, record: JSON.stringify(content), now });
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/store/runs.js

const runs_select = `
  select id, project_id as projectId, suite_id as suiteId, run_number as runNumber, status, result,
    minimum_pass_rate as minimumPassRate, notes, failure, total, passed, failed, created_at as createdAt,
    completed_at as completedAt`;
const runRow = schemas/* object */.Ikc({
    id: schemas/* string */.YjP(),
    projectId: schemas/* string */.YjP(),
    suiteId: schemas/* string */.YjP(),
    runNumber: schemas/* number */.aig(),
    status: schemas/* enum */.k5n(['running', 'completed', 'failed', 'cancelled', 'timed_out']),
    result: schemas/* enum */.k5n(['passed', 'failed']).nullable(),
    /** Percent. */
    minimumPassRate: schemas/* number */.aig(),
    notes: schemas/* string */.YjP().nullable(),
    failure: schemas/* string */.YjP().nullable(),
    total: schemas/* number */.aig(),
    passed: schemas/* number */.aig(),
    failed: schemas/* number */.aig(),
    createdAt: schemas/* number */.aig(),
    completedAt: schemas/* number */.aig().nullable(),
});
const totalsRow = schemas/* object */.Ikc({ passed: schemas/* number */.aig(), failed: schemas/* number */.aig(), runs: schemas/* number */.aig() });
const passRateRow = schemas/* object */.Ikc({ pass_rate: schemas/* number */.aig() }).transform((row) => row.pass_rate);
/** Completed runs whose pass rates are told as a suite's trend. */
const trendLength = 12;
/** Runs; they start as `running`, are counted up as iterations end, and end once. */
function createRunStore(database) {
    const insert = database.prepare(`
    insert into runs values (
      :id, :projectId, :suiteId, (select coalesce(max(run_number), 0) + 1 from runs where suite_id = :suiteId),
      'running', null, :minimumPassRate, :notes, null, :total, 0, 0, :now, null
    )`);
    const count = database.prepare('update runs set passed = passed + ?, failed = failed + ? where id = ?');
    const end = database.prepare(`
    update runs set status = :status, result = :result, failure = :failure, completed_at = :now
    where id = :id and status = 'running'`);
    const endAll = database.prepare(`
    update runs set status = 'failed', failure = :failure, completed_at = :now where status = 'running'`);
    const selectOne = database.prepare(`${runs_select} from runs where id = ?`);
    const selectOfSuite = database.prepare(`${runs_select} from runs where suite_id = ? order by run_number desc limit ?`);
    const selectTotals = database.prepare(`
    select coalesce(sum(passed), 0) as passed, coalesce(sum(failed), 0) as failed, count(*) as runs
    from runs where suite_id = ?`);
    const selectTrend = database.prepare(`
    select cast(passed as real) / total as pass_rate from runs
    where suite_id = ? and status = 'completed' order by run_number desc limit ${trendLength}`);
    const getRow = (row) => runRow.optional().parse(row);
    return {
        get: (id) => getRow(selectOne.get(id)),
        listOfSuite: (suiteId, limit) => schemas/* array */.YOg(runRow).parse(selectOfSuite.all(suiteId, limit)),
        getTotals: (suiteId) => totalsRow.parse(selectTotals.get(suiteId)),
        /** Fractions, oldest first. */
        listPassRates: (suiteId) => schemas/* array */.YOg(passRateRow).parse(selectTrend.all(suiteId)).toReversed(),
        insert: (run) => {
            insert.run({ ...run });
        },
        count: (id, result) => {
            count.run(result === 'passed' ? 1 : 0, result === 'failed' ? 1 : 0, id);
        },
        /** Returns whether this call ended it; a run that has ended stays as it ended. */
        end: (id, runEnd) => end.run({ id, ...runEnd }).changes > 0,
        endAll: (failure, now) => {
            endAll.run({ failure, now });
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/store/schema.js


/** One entry per version of the store, applied in order; entries are added, never edited. */
const migrations = [
    `
  create table projects (
    id text primary key, name text not null, record text not null,
    created_at integer not null, updated_at integer not null
  );
  create table servers (
    id text primary key, project_id text not null references projects (id), name text not null, record text not null,
    created_at integer not null, updated_at integer not null,
    unique (project_id, name)
  );
  create table suites (
    id text primary key, project_id text not null references projects (id), record text not null,
    created_at integer not null, updated_at integer not null
  );
  create table cases (
    id text primary key, suite_id text not null references suites (id) on delete cascade, position integer not null,
    declared_id text not null, record text not null, created_at integer not null, updated_at integer not null,
    unique (suite_id, declared_id), unique (suite_id, position)
  );
  -- Runs outlive their suite, so they do not refer to it.
  create table runs (
    id text primary key, project_id text not null references projects (id), suite_id text not null,
    run_number integer not null, status text not null, result text, minimum_pass_rate real not null,
    notes text, failure text, total integer not null, passed integer not null, failed integer not null,
    created_at integer not null, completed_at integer
  );
  create index runs_of_suite on runs (suite_id, run_number);
  create table iterations (
    run_id text not null references runs (id), position integer not null, id text not null unique,
    case_id text not null, title text not null, iteration_number integer not null,
    status text not null, result text, started_at integer, duration_ms integer, error text,
    tool_calls text, steps text,
    primary key (run_id, position)
  );
  -- Apart from the rest, so that a page of iterations never reads past their traces.
  create table traces (iteration_id text primary key, document text not null);
  create table idempotency_keys (
    scope text not null, key text not null, fingerprint text not null, answer text not null,
    primary key (scope, key)
  );
  `,
];
const versionRow = schemas/* object */.Ikc({ user_version: schemas/* int */.Whr() });
/**
 * Brings a store up to this version's schema, in one transaction.
 *
 * @throws {ConfigurationError} when a newer version wrote the store.
 */
function migrateSchema(database) {
    const version = versionRow.parse(database.prepare('pragma user_version').get()).user_version;
    if (version > migrations.length) {
        throw new errors/* ConfigurationError */.j1([
            {
                code: 'store-too-new',
                message: `The data directory was written by a newer version (store version ${version}, this one knows ${migrations.length}); use that version or another directory`,
            },
        ]);
    }
    database.exec('begin');
    for (const migration of migrations.slice(version))
        database.exec(migration);
    database.exec(`pragma user_version = ${migrations.length}; commit`);
}

;// CONCATENATED MODULE: ./lib/embedded/store/servers.js


const servers_select = 'select id, project_id as projectId, record as content, created_at as createdAt, updated_at as updatedAt';
const serverRow = schemas/* object */.Ikc({
    id: schemas/* string */.YjP(),
    projectId: schemas/* string */.YjP(),
    content: jsonColumn(),
    createdAt: schemas/* number */.aig(),
    updatedAt: schemas/* number */.aig(),
});
/** Records of MCP servers; names are unique in their project. */
function createServerStore(database) {
    const insert = database.prepare('insert into servers values (:id, :projectId, :name, :record, :now, :now)');
    const update = database.prepare('update servers set name = :name, record = :record, updated_at = :now where id = :id');
    const remove = database.prepare('delete from servers where id = ?');
    const selectOne = database.prepare(`${servers_select} from servers where project_id = ? and id = ?`);
    const selectByName = database.prepare(`${servers_select} from servers where project_id = ? and name = ?`);
    const selectAll = database.prepare(`${servers_select} from servers where project_id = ? order by created_at, rowid`);
    const getRow = (row) => serverRow.optional().parse(row);
    return {
        list: (projectId) => schemas/* array */.YOg(serverRow).parse(selectAll.all(projectId)),
        get: (projectId, id) => getRow(selectOne.get(projectId, id)),
        getByName: (projectId, name) => getRow(selectByName.get(projectId, name)),
        insert: (server) => {
            const { content, ...columns } = server;
            insert.run({ ...columns, name: content.name, record: JSON.stringify(content) });
        },
        update: (server) => {
            const { id, content, now } = server;
            update.run({ id, now, name: content.name, record: JSON.stringify(content) });
        },
        delete: (id) => {
            remove.run(id);
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/store/suites.js


const suites_select = 'select id, project_id as projectId, record as content, created_at as createdAt, updated_at as updatedAt';
const suiteRow = schemas/* object */.Ikc({
    id: schemas/* string */.YjP(),
    projectId: schemas/* string */.YjP(),
    content: jsonColumn(),
    createdAt: schemas/* number */.aig(),
    updatedAt: schemas/* number */.aig(),
});
/** Suites. Deleting one deletes its cases and keeps its runs. */
function createSuiteStore(database) {
    const insert = database.prepare('insert into suites values (:id, :projectId, :record, :now, :now)');
    const update = database.prepare('update suites set record = :record, updated_at = :now where id = :id');
    const remove = database.prepare('delete from suites where id = ?');
    const selectOne = database.prepare(`${suites_select} from suites where project_id = ? and id = ?`);
    const selectAll = database.prepare(`${suites_select} from suites where project_id = ? order by created_at, rowid`);
    return {
        list: (projectId) => schemas/* array */.YOg(suiteRow).parse(selectAll.all(projectId)),
        get: (projectId, id) => suiteRow.optional().parse(selectOne.get(projectId, id)),
        insert: (suite) => {
            const { content, ...columns } = suite;
            insert.run({ ...columns, record: JSON.stringify(content) });
        },
        update: (suite) => {
            const { content, ...columns } = suite;
            update.run({ ...columns, record: JSON.stringify(content) });
        },
        delete: (id) => {
            remove.run(id);
        },
    };
}

;// CONCATENATED MODULE: ./lib/embedded/store/open.js












/** Pages that SQLite keeps in memory; negative means KiB. */
const cacheKib = 16 * 1024;
/**
 * Opens the store: a file below `dataDir` that only its owner may read, or, without one, SQLite's own temporary
 * database. That one lives in memory until it outgrows the page cache and then spills into a file without a name, so
 * that a run with large traces costs disk and not memory; nothing is left of it however the process ends.
 *
 * @throws {ConfigurationError} when another process uses the data directory, or a newer version wrote it.
 */
function openStore(dataDir) {
    const database = new external_node_sqlite_.DatabaseSync(dataDir === undefined ? '' : createStoreFile(dataDir));
    try {
        // A store that is kept survives a crash of this process, and belongs to one process at a time: opening it ends the
        // runs that nobody executes any more. A temporary one has nothing to survive.
        const durability = dataDir === undefined
            ? 'pragma journal_mode = memory; pragma synchronous = off;'
            : 'pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal;';
        database.exec(`${durability} pragma cache_size = -${cacheKib}; pragma foreign_keys = on;`);
        migrateSchema(database);
    }
    catch (error) {
        database.close();
        if (!isLocked(error))
            throw error;
        const message = `Another process uses the data directory ${dataDir ?? ''}; stop it or choose another directory`;
        throw new errors/* ConfigurationError */.j1([{ code: 'store-in-use', message }], { cause: error });
    }
    return {
        projects: createProjectStore(database),
        servers: createServerStore(database),
        suites: createSuiteStore(database),
        cases: createCaseStore(database),
        runs: createRunStore(database),
        iterations: createIterationStore(database),
        idempotency: createIdempotencyStore(database),
        /** Runs `write` so that either all it wrote is kept or nothing. Not nestable. */
        transact: (write) => {
            database.exec('begin');
            try {
                const result = write();
                database.exec('commit');
                return result;
            }
            catch (error) {
                // SQLite rolls back by itself where the disk is full, and then there is nothing to roll back.
                if (database.isTransaction)
                    database.exec('rollback');
                throw error;
            }
        },
        close: () => database.close(),
    };
}
/** Server records may hold credentials, so the file is readable by its owner alone before anything is in it. */
function createStoreFile(dataDir) {
    (0,external_node_fs_.mkdirSync)(dataDir, { recursive: true, mode: 0o700 });
    const path = (0,external_node_path_.join)(dataDir, 'embedded.db');
    (0,external_node_fs_.closeSync)((0,external_node_fs_.openSync)(path, 'a', 0o600));
    return path;
}
/** SQLITE_BUSY, https://sqlite.org/rescode.html#busy */
function isLocked(error) {
    return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

;// CONCATENATED MODULE: ./lib/embedded/open.js















/** For a service inside the gate's own process, where only the evals file bounds what is asked. */
const localLimits = {
    ...contractLimits,
    iterationsPerCase: 100,
    testsPerRequest: 5000,
    concurrentRuns: 16,
    maxBodyBytes: 64 * 1024 * 1024,
};
/**
 * Serves the eval API on 127.0.0.1 until it is disposed.
 *
 * @throws {NetworkError} when the port cannot be taken.
 * @throws {ConfigurationError} when another process uses the data directory, or a newer version wrote it.
 */
async function openEmbeddedService(options) {
    const { clock, logger, limits = contractLimits } = options;
    const iterationTimeoutMs = options.iterationTimeoutMs ?? defaultIterationTimeoutMs;
    const runTimeoutMs = options.runTimeoutMs ?? defaultRunTimeoutMs;
    const apiKey = options.apiKey ?? new redaction/* Secret */.zh(`sk_local_${(0,external_node_crypto_.randomBytes)(24).toString('base64url')}`);
    const store = openStore(options.dataDir);
    const project = prepareStore(store, clock.now());
    const { concurrency } = options;
    const runner = createRunner({ store, clock, logger, concurrency, iterationTimeoutMs, runTimeoutMs });
    const readBody = createBodyReader(limits.maxBodyBytes);
    const bodies = createBodySchemas(limits);
    const relay = createRelayEdge({ clock, limits: { ...defaultRelayLimits, ...options.relayLimits } });
    const app = createApp({ clock, logger, limits, iterationTimeoutMs, readBody, bodies, store, runner, relay }, { apiKey, rateLimit: options.rateLimit ?? null });
    // The adaptor would replace the process's own Request and Response, which are others' too.
    const listener = (0,dist/* getRequestListener */.SE)(app.fetch, { overrideGlobalObjects: false });
    // The relay streams both ways, so it works with Node's own requests.
    const server = (0,external_node_http_.createServer)((request, response) => {
        if (!relay.serve({ request, response }))
            void listener(request, response);
    });
    server.on('upgrade', (request, stream, head) => relay.upgrade(request, stream, head));
    try {
        server.listen(options.port ?? 0, '127.0.0.1');
        await (0,external_node_events_.once)(server, 'listening');
    }
    catch (error) {
        store.close();
        throw new errors/* NetworkError */.Dr(`The eval service could not listen on port ${options.port ?? 0} of 127.0.0.1.`, {
            cause: error,
            hint: 'Choose another port, or none to take a free one.',
        });
    }
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : options.port;
    return {
        baseUrl: `http://127.0.0.1:${port}${apiPath}`,
        apiKey,
        projectId: project.id,
        projectName: project.name,
        [Symbol.asyncDispose]: async () => {
            const closed = (0,external_node_events_.once)(server, 'close');
            server.close();
            relay[Symbol.dispose]();
            server.closeAllConnections();
            await runner[Symbol.asyncDispose]();
            await closed;
            store.close();
        },
    };
}
/** Gives a new store its project, and ends the runs that an earlier process left behind: nobody executes them. */
function prepareStore(store, now) {
    store.transact(() => {
        store.runs.endAll('The service stopped while the run was executing.', now);
        store.iterations.cancelAll();
    });
    const [existing] = store.projects.list();
    if (existing !== undefined)
        return existing;
    const project = { id: createId('prj'), name: 'Default' };
    store.projects.insert({ ...project, content: { description: null, icon: null, visibility: 'private' }, now });
    return project;
}


/***/ })

};
