export const id = 167;
export const ids = [167];
export const modules = {

/***/ 6167:
/***/ ((__unused_webpack___webpack_module__, __webpack_exports__, __webpack_require__) => {


// EXPORTS
__webpack_require__.d(__webpack_exports__, {
  openServer: () => (/* binding */ openServer)
});

// EXTERNAL MODULE: external "node:crypto"
var external_node_crypto_ = __webpack_require__(7598);
;// CONCATENATED MODULE: ./node_modules/shlex/shlex.js


/*
  Port of a subset of the features of CPython's shlex module, which provides a
  shell-like lexer. Original code by Eric S. Raymond and other contributors.
*/

class Shlexer {
  constructor (string) {
    this.i = 0
    this.string = string

    /**
     * Characters that will be considered whitespace and skipped. Whitespace
     * bounds tokens. By default, includes space, tab, linefeed and carriage
     * return.
     */
    this.whitespace = ' \t\r\n'

    /**
     * Characters that will be considered string quotes. The token accumulates
     * until the same quote is encountered again (thus, different quote types
     * protect each other as in the shell.) By default, includes ASCII single
     * and double quotes.
     */
    this.quotes = `'"`

    /**
     * Characters that will be considered as escape. Just `\` by default.
     */
    this.escapes = '\\'

    /**
     * The subset of quote types that allow escaped characters. Just `"` by default.
     */
    this.escapedQuotes = '"'

    /**
     * Whether to support ANSI C-style $'' quotes
     * https://www.gnu.org/software/bash/manual/html_node/ANSI_002dC-Quoting.html
     */
    this.ansiCQuotes = true

    /**
     * Whether to support localized $"" quotes
     * https://www.gnu.org/software/bash/manual/html_node/Locale-Translation.html
     *
     * The behavior is as if the current locale is set to C or POSIX, i.e., the
     * contents are not translated.
     */
    this.localeQuotes = true

    this.debug = false
  }

  readChar () {
    return this.string.charAt(this.i++)
  }

  processEscapes (string, quote, isAnsiCQuote) {
    if (!isAnsiCQuote && !this.escapedQuotes.includes(quote)) {
      // This quote type doesn't support escape sequences
      return string
    }

    // We need to form a regex that matches any of the escape characters,
    // without interpreting any of the characters as a regex special character.
    const anyEscape = '[' + this.escapes.replace(/(.)/g, '\\$1') + ']'

    // In regular quoted strings, we can only escape an escape character, and
    // the quote character itself.
    if (!isAnsiCQuote && this.escapedQuotes.includes(quote)) {
      const re = new RegExp(
        anyEscape + '(' + anyEscape + '|\\' + quote + ')', 'g')
      return string.replace(re, '$1')
    }

    // ANSI C quoted strings support a wide variety of escape sequences
    if (isAnsiCQuote) {
      const patterns = {
        // Literal characters
        '([\\\\\'"?])': (x) => x,

        // Non-printable ASCII characters
        'a': () => '\x07',
        'b': () => '\x08',
        'e|E': () => '\x1b',
        'f': () => '\x0c',
        'n': () => '\x0a',
        'r': () => '\x0d',
        't': () => '\x09',
        'v': () => '\x0b',

        // Octal bytes
        '([0-7]{1,3})': (x) => String.fromCharCode(parseInt(x, 8)),

        // Hexadecimal bytes
        'x([0-9a-fA-F]{1,2})': (x) => String.fromCharCode(parseInt(x, 16)),

        // Unicode code units
        'u([0-9a-fA-F]{1,4})': (x) => String.fromCharCode(parseInt(x, 16)),
        'U([0-9a-fA-F]{1,8})': (x) => String.fromCharCode(parseInt(x, 16)),

        // Control characters
        // https://en.wikipedia.org/wiki/Control_character#How_control_characters_map_to_keyboards
        'c(.)': (x) => {
          if (x === '?') {
            return '\x7f'
          } else if (x === '@') {
            return '\x00'
          } else {
            return String.fromCharCode(x.charCodeAt(0) & 31)
          }
        }
      }

      // Construct an uber-RegEx that catches all of the above pattern
      const re = new RegExp(
        anyEscape + '(' + Object.keys(patterns).join('|') + ')', 'g')

      // For each match, figure out which subpattern matched, and apply the
      // corresponding function
      return string.replace(re, function (m, p1) {
        for (const matched in patterns) {
          const mm = new RegExp('^' + matched + '$').exec(p1)
          if (mm === null) {
            continue
          }

          return patterns[matched].apply(null, mm.slice(1))
        }
      })
    }

    // Should not get here
    return undefined
  }

  * [Symbol.iterator] () {
    let inQuote = false
    let inDollarQuote = false
    let escaped = false
    let lastDollar = -2 // position of last dollar sign we saw
    let token

    if (this.debug) {
      console.log('full input:', '>' + this.string + '<')
    }

    while (true) {
      const pos = this.i
      const char = this.readChar()

      if (this.debug) {
        console.log(
          'position:', pos,
          'input:', '>' + char + '<',
          'accumulated:', token,
          'inQuote:', inQuote,
          'inDollarQuote:', inDollarQuote,
          'lastDollar:', lastDollar,
          'escaped:', escaped
        )
      }

      // Ran out of characters, we're done
      if (char === '') {
        if (inQuote) { throw new Error('Got EOF while in a quoted string') }
        if (escaped) { throw new Error('Got EOF while in an escape sequence') }
        if (token !== undefined) { yield token }
        return
      }

      // We were in an escape sequence, complete it
      if (escaped) {
        if (char === '\n') {
          // An escaped newline just means to continue the command on the next
          // line. We just need to ignore it.
        } else if (inQuote) {
          // If we are in a quote, just accumulate the whole escape sequence,
          // as we will interpret escape sequences later.
          token = (token || '') + escaped + char
        } else {
          // Just use the literal character
          token = (token || '') + char
        }

        escaped = false
        continue
      }

      if (this.escapes.includes(char)) {
        if (!inQuote || inDollarQuote !== false || this.escapedQuotes.includes(inQuote)) {
          // We encountered an escape character, which is going to affect how
          // we treat the next character.
          escaped = char
          continue
        } else {
          // This string type doesn't use escape characters. Ignore for now.
        }
      }

      // We were in a string
      if (inQuote !== false) {
        // String is finished. Don't grab the quote character.
        if (char === inQuote) {
          token = this.processEscapes(token, inQuote, inDollarQuote === '\'')
          inQuote = false
          inDollarQuote = false
          continue
        }

        // String isn't finished yet, accumulate the character
        token = (token || '') + char
        continue
      }

      // This is the start of a new string, don't accumulate the quotation mark
      if (this.quotes.includes(char)) {
        inQuote = char
        if (lastDollar === pos - 1) {
          if (char === '\'' && !this.ansiCQuotes) {
            // Feature not enabled
          } else if (char === '"' && !this.localeQuotes) {
            // Feature not enabled
          } else {
            inDollarQuote = char
          }
        }

        token = (token || '') // fixes blank string

        if (inDollarQuote !== false) {
          // Drop the opening $ we captured before
          token = token.slice(0, -1)
        }

        continue
      }

      // This is a dollar sign, record that we saw it in case it's the start of
      // an ANSI C or localized string
      if (inQuote === false && char === '$') {
        lastDollar = pos
      }

      // This is whitespace, so yield the token if we have one
      if (this.whitespace.includes(char)) {
        if (token !== undefined) { yield token }
        token = undefined
        continue
      }

      // Otherwise, accumulate the character
      token = (token || '') + char
    }
  }
}


/**
 * Splits a given string using shell-like syntax. This function is the inverse
 * of shlex.join().
 *
 * @param {String} s String to split.
 * @returns {String[]}
 */
function split (s) {
  return Array.from(new Shlexer(s))
}

/**
 * Escapes a potentially shell-unsafe string using quotes.
 *
 * @param {String} s String to quote
 * @returns {String}
 */
function quote (s) {
  if (s === '') { return '\'\'' }

  const unsafeRe = /[^\w@%\-+=:,./]/
  if (!unsafeRe.test(s)) { return s }

  return ('\'' + s.replace(/('+)/g, '\'"$1"\'') + '\'').replace(/^''|''$/g, '')
}


/**
 * Concatenate the tokens of the list args and return a string. This function
 * is the inverse of shlex.split().
 *
 * The returned value is shell-escaped to protect against injection
 * vulnerabilities (see shlex.quote()).
 *
 * @param {String[]} args List of args to join
 * @returns {String}
 */
function join (args) {
  if (!Array.isArray(args)) {
    throw new TypeError("args should be an array")
  }
  return args.map(quote).join(" ")
}

// EXTERNAL MODULE: ./lib/base/errors.js
var errors = __webpack_require__(7594);
// EXTERNAL MODULE: ./lib/base/redaction.js
var redaction = __webpack_require__(44);
// EXTERNAL MODULE: ./lib/server/environment.js
var environment = __webpack_require__(3790);
// EXTERNAL MODULE: ./lib/base/deadline.js
var deadline = __webpack_require__(4361);
// EXTERNAL MODULE: external "node:child_process"
var external_node_child_process_ = __webpack_require__(1421);
// EXTERNAL MODULE: ./lib/server/group.js
var group = __webpack_require__(6156);
;// CONCATENATED MODULE: ./lib/server/process.js


/** How long a server may take to leave after its stdin closed, and then after SIGTERM. Fits twice into a runner's 7.5 s. */
const stdinGraceMs = 1500;
const terminateGraceMs = 1000;
/** After the process is gone, descendants may hold its stdout open; what is still in the pipe is read for this long. */
const outputDrainMs = 250;
/** Starts a program with no shell. What it writes to stderr goes to the ring; the caller reads stdout to its end. */
function startProcess(command, options) {
    const { clock } = options;
    const [file = '', ...args] = command;
    const child = (0,external_node_child_process_.spawn)(file, args, {
        cwd: options.cwd,
        env: options.env,
        stdio: ['pipe', 'pipe', 'pipe'],
        // A group of its own lets one signal reach every descendant. On Windows the flag would open a console window.
        detached: process.platform !== 'win32',
        windowsHide: true,
    });
    child.stderr.on('data', (chunk) => options.ring.append(chunk));
    // A program that dies leaves broken pipes behind; its exit is reported, the pipes need not be.
    for (const stream of [child.stdin, child.stdout, child.stderr])
        stream.on('error', () => { });
    const ended = new Promise((resolve) => {
        child.once('exit', (code, signal) => resolve({ code, signal }));
        child.on('error', (error) => {
            if (child.pid === undefined)
                resolve({ code: null, signal: null, error });
        });
    });
    const outputEnded = new Promise((resolve) => {
        child.once('close', () => resolve());
    });
    const exited = ended.then(async (exit) => {
        if (child.pid !== undefined)
            await waitAtMost(clock, outputEnded, outputDrainMs);
        child.stdout.destroy();
        child.stderr.destroy();
        return exit;
    });
    const stopGroup = async () => {
        const groupId = child.pid;
        child.stdin.end();
        if (groupId === undefined)
            return;
        if (options.readsStdin)
            await waitAtMost(clock, ended, stdinGraceMs);
        if (!(0,group/* isGroupAlive */.JM)(groupId))
            return;
        (0,group/* signalGroup */.i8)(groupId, 'SIGTERM');
        if (!(await (0,group/* waitForGroupEnd */.Pi)(clock, groupId, terminateGraceMs)))
            await killGroup();
    };
    const killGroup = async () => {
        if (child.pid === undefined)
            return;
        (0,group/* signalGroup */.i8)(child.pid, 'SIGKILL');
        await waitAtMost(clock, ended, terminateGraceMs);
        await (0,group/* waitForGroupEnd */.Pi)(clock, child.pid, terminateGraceMs);
    };
    let stopping;
    return {
        stdin: child.stdin,
        stdout: child.stdout,
        get hasEnded() {
            return child.exitCode !== null || child.signalCode !== null;
        },
        exited,
        stop: () => (stopping ??= stopGroup()),
        kill: killGroup,
    };
}
/** Waits for the promise, but no longer than `timeoutMs`. */
async function waitAtMost(clock, promise, timeoutMs) {
    const timer = new AbortController();
    const timeout = clock.sleep(timeoutMs, { signal: timer.signal }).catch(() => { });
    await Promise.race([promise, timeout]);
    timer.abort();
}

// EXTERNAL MODULE: ./node_modules/@modelcontextprotocol/client/dist/index.mjs + 15 modules
var dist = __webpack_require__(2299);
;// CONCATENATED MODULE: ./lib/server/protocol.js

const latestLegacyVersion = dist/* LATEST_PROTOCOL_VERSION */.aE;
const legacyVersions = dist/* SUPPORTED_PROTOCOL_VERSIONS */.Iu;
const modernVersion = '2026-07-28';
/** Who we are while we only find out whether a server answers. */
const probeClientInfo = { name: 'mcp-eval-ci', version: '1' };

;// CONCATENATED MODULE: ./lib/server/ready-http.js



const retryDelayMs = 100;
/** A server that accepts a connection and says nothing is asked again; some listen before they can answer. */
const attemptTimeoutMs = 10_000;
/**
 * Asks the server at `url` to introduce itself until it does, whatever it answers meanwhile. A bare GET would not do: healthy
 * servers answer it with 400. `onFailure` hears why each attempt failed. Ends only with an answer or the signal.
 */
async function waitForHttpServer(url, options) {
    for (;;) {
        options.signal.throwIfAborted();
        try {
            return await probeHttp(url, options.signal);
        }
        catch (error) {
            options.onFailure((0,errors/* describeError */.Uc)(error));
        }
        await options.clock.sleep(retryDelayMs, { signal: options.signal });
    }
}
async function probeHttp(url, signal) {
    try {
        return await shakeHands(url, 'legacy', signal);
    }
    catch (error) {
        // Nobody refused the handshake if nobody is there.
        if (!hasAnswered(error))
            throw error;
        try {
            return await shakeHands(url, { pin: modernVersion }, signal);
        }
        catch {
            throw error;
        }
    }
}
async function shakeHands(url, mode, signal) {
    const transport = new dist/* StreamableHTTPClientTransport */.jS(new URL(url), { requestInit: { redirect: 'error' } });
    const client = new dist/* Client */.Kj(probeClientInfo, { versionNegotiation: { mode } });
    try {
        await client.connect(transport, { signal, timeout: attemptTimeoutMs });
        const server = client.getServerVersion();
        const protocol = mode === 'legacy' ? 'legacy' : 'modern';
        const protocolVersion = client.getNegotiatedProtocolVersion() ?? modernVersion;
        if (protocol === 'legacy')
            await transport.terminateSession().catch(() => { });
        return { protocol, protocolVersion, name: server?.name ?? null, version: server?.version ?? null };
    }
    finally {
        await client.close();
    }
}
/** Whether the error is the server's own answer, as opposed to none. */
function hasAnswered(error) {
    return error instanceof dist/* SdkHttpError */.HC || (error instanceof Error && 'code' in error && typeof error.code === 'number');
}

;// CONCATENATED MODULE: ./lib/server/ready.js
/**
 * Waits for a probe to succeed, but no longer than the process lives, the time allowed lasts or the caller wants. The probe's
 * signal is aborted as soon as the wait is over.
 *
 * @throws what `exited` resolves to, or what `createTimeoutError` makes, or the signal's reason.
 */
async function waitForReadiness(probe, options) {
    const over = new AbortController();
    const signal = AbortSignal.any([options.signal, over.signal]);
    const timeout = options.clock.sleep(options.readyTimeoutMs, { signal }).then(() => {
        throw options.createTimeoutError();
    });
    const exit = options.exited.then((error) => {
        throw error;
    });
    try {
        return await Promise.race([probe(signal), exit, timeout]);
    }
    finally {
        over.abort();
    }
}

;// CONCATENATED MODULE: ./lib/server/ring.js
/** Longer lines are cut when they are read back: one line of a minified bundle must not fill a report. */
const maxLineLength = 2000;
function createOutputRing(maxBytes = 256 * 1024) {
    const bytes = Buffer.alloc(maxBytes);
    let written = 0;
    return {
        append: (chunk) => {
            const kept = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).subarray(-maxBytes);
            const copied = kept.copy(bytes, (written + chunk.length - kept.length) % maxBytes);
            kept.copy(bytes, 0, copied);
            written += chunk.length;
        },
        readLines: (maxLines) => {
            const start = written % maxBytes;
            const isWrapped = written > maxBytes;
            const kept = isWrapped
                ? Buffer.concat([bytes.subarray(start), bytes.subarray(0, start)])
                : bytes.subarray(0, written);
            const lines = kept.toString('utf8').split(/\r?\n/);
            if (isWrapped)
                lines.shift();
            if (lines.at(-1) === '')
                lines.pop();
            return lines.slice(-maxLines).map((line) => line.slice(0, maxLineLength));
        },
    };
}

;// CONCATENATED MODULE: ./lib/server/start-error.js

/** Lines of stderr that an error carries: enough for a stack trace, little enough to be read. */
const tailLines = 50;
/** Says that the process ended before the server answered, and why where that can be told. */
function createExitError(command, exit, { ring, remark }) {
    const stderrTail = ring.readLines(tailLines);
    if (exit.error !== undefined) {
        const isMissing = exit.error.code === 'ENOENT';
        return new errors/* ServerStartError */.K4(`The server command ${JSON.stringify(command)} could not be started.`, {
            hint: isMissing
                ? 'Check the spelling, that an earlier step installs it, and that the working directory exists. No shell reads the command, so wrap pipes, && or variables in sh -c "…".'
                : 'Check that the file may be executed.',
            cause: exit.error,
        });
    }
    return new errors/* ServerStartError */.K4(`The server under test ${describeExit(exit)} before it was ready.${remark}`, {
        processExitCode: exit.code,
        stderrTail,
        hint: exit.code === 0
            ? 'A server keeps running until its stdin closes. Check that the command starts the server in the foreground and in the right mode.'
            : 'Run the command by hand with the same arguments. The server gets a small environment only; pass what it needs with server-env.',
    });
}
/** Says that the process serving the evals is gone. */
function createLostError(exit, ring) {
    return new errors/* ServerStartError */.K4(`The server under test ${describeExit(exit)} while it was in use.`, {
        processExitCode: exit.code,
        stderrTail: ring.readLines(tailLines),
        hint: 'Nothing can be said of the cases that were still to run; see the end of its output.',
    });
}
function describeExit(exit) {
    return exit.code === null ? `was ended by ${exit.signal ?? 'the system'}` : `exited with code ${exit.code}`;
}

;// CONCATENATED MODULE: ./lib/server/open-http.js







/** How long whoever holds the port may take to show that it is an MCP server. */
const foreignProbeMs = 2000;
/** Waits until the server at the URL answers, having started its command first where there is one. */
async function openHttpServer(url, options) {
    const { start } = options;
    const ring = start?.ring ?? createOutputRing();
    if (start !== null)
        await refuseForeignServer(url, options);
    const server = start === null ? null : startHttpCommand(start);
    const { promise: exited, resolve: reportExit } = Promise.withResolvers();
    void server?.exited.then((exit) => reportExit(createExitError(start?.command ?? '', exit, { ring, remark: '' })));
    let lastFailure = 'it was not asked';
    const onFailure = (reason) => {
        // HTTP clients like to quote the URL they could not reach.
        lastFailure = reason.replaceAll(url, describeUrl(url));
    };
    try {
        const handshake = await waitForReadiness((signal) => waitForHttpServer(url, { clock: options.clock, signal, onFailure }), {
            ...options,
            exited,
            createTimeoutError: () => {
                const time = (0,deadline/* formatDuration */.a3)(options.readyTimeoutMs);
                return new errors/* ServerStartError */.K4(`No MCP server answered at ${describeUrl(url)} within ${time}; last: ${lastFailure}.`, {
                    stderrTail: ring.readLines(tailLines),
                    hint: 'Check host, port and path (often /mcp), and that the server listens on that address; if it only needs longer, raise the ready timeout.',
                });
            },
        });
        const lost = Promise.withResolvers();
        let isStopping = false;
        void server?.exited.then((exit) => (isStopping ? undefined : lost.resolve(createLostError(exit, ring))));
        return {
            url,
            token: null,
            protocol: handshake.protocol,
            report: {
                transport: 'http',
                name: handshake.name,
                version: handshake.version,
                protocolVersion: handshake.protocolVersion,
                isolation: handshake.protocol === 'modern' ? 'stateless' : 'session per iteration',
            },
            lost: lost.promise,
            [Symbol.asyncDispose]: async () => {
                isStopping = true;
                await server?.stop();
            },
        };
    }
    catch (error) {
        await server?.stop();
        throw error;
    }
}
/**
 * A server that answers before the command was started is another one: left over, or of another job. It would be tested in
 * place of the command's, which may not even notice that its port is taken.
 *
 * @throws {ServerStartError} when one answers.
 */
async function refuseForeignServer(url, { clock, signal }) {
    const over = new AbortController();
    const probe = waitForHttpServer(url, {
        clock,
        signal: AbortSignal.any([signal, over.signal]),
        onFailure: () => over.abort(),
    }).catch(() => null);
    const timeout = clock.sleep(foreignProbeMs, { signal: over.signal }).then(() => null, () => null);
    const found = await Promise.race([probe, timeout]);
    over.abort();
    signal.throwIfAborted();
    if (found === null)
        return;
    throw new errors/* ServerStartError */.K4(`An MCP server${found.name === null ? '' : ` (${found.name})`} answers at ${describeUrl(url)} before the server command was started.`, {
        hint: 'Stop it or choose another port; to test that very server, give server-url alone.',
    });
}
/** What an HTTP server prints to stdout is log as much as what it prints to stderr. */
function startHttpCommand(start) {
    const server = startProcess(start.words, { ...start, readsStdin: false });
    server.stdout.on('data', (chunk) => start.ring.append(chunk));
    return server;
}
/** Without credentials and query, which may be secret. */
function describeUrl(url) {
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname}`;
}

;// CONCATENATED MODULE: ./lib/server/bridge/child-pool.js

/** Servers that may end by themselves in use before no more are started: one that cannot stay up would restart for ever. */
const maxLosses = 10;
/**
 * Spares that may end by themselves before none is kept any more. Some servers do not stand waiting, or not beside another of
 * their kind; started when they are needed they may well work.
 */
const maxSpareExits = 3;
/** Servers that may still be leaving while new ones start. A server that ignores the end of its stdin takes 2.5 s. */
const maxLeaving = 16;
/**
 * Gives every caller a process of its own, with `spares` started ahead to hide the time a start takes: fewer towards the end
 * where it is known how many will be `wanted`.
 */
function createChildPool(options) {
    const all = new Set();
    const idle = [];
    let taken = 0;
    let losses = 0;
    let spareExits = 0;
    let isDisposed = false;
    const start = () => {
        const child = options.startChild();
        all.add(child);
        void watch(child);
        return child;
    };
    const watch = async (child) => {
        const exit = await child.exited;
        if (!child.isEnding) {
            const index = idle.indexOf(child);
            if (index === -1) {
                losses += 1;
                options.onLost(exit, child);
            }
            else {
                spareExits += 1;
                idle.splice(index, 1);
            }
            options.logger.debug(`A ${index === -1 ? 'server in use' : 'spare server'} ended by itself (${exit.code ?? exit.signal ?? 'not started'}).`);
            refill();
        }
        // What it started may live on.
        await child.stop();
        all.delete(child);
    };
    const refill = () => {
        if (isDisposed || losses >= maxLosses || spareExits >= maxSpareExits)
            return;
        const spares = options.wanted === null ? options.spares : Math.min(options.spares, options.wanted - taken);
        while (idle.length < spares)
            idle.push(start());
    };
    const waitForLeaving = async () => {
        for (;;) {
            const leaving = [...all].filter((child) => child.isEnding && child.exit === null);
            if (leaving.length < maxLeaving)
                return;
            await Promise.race(leaving.map((child) => child.exited));
        }
    };
    refill();
    return {
        take: async () => {
            await waitForLeaving();
            if (isDisposed)
                throw new errors/* ServerStartError */.K4('The server under test is being stopped.');
            if (losses >= maxLosses) {
                throw new errors/* ServerStartError */.K4(`The server under test ended by itself ${losses} times; no more are started.`);
            }
            taken += 1;
            const spare = idle.findIndex((child) => !child.hasEnded);
            const [child = start()] = spare === -1 ? [] : idle.splice(spare, 1);
            // After the caller's first message, so that a start does not compete with it.
            setImmediate(refill);
            return child;
        },
        [Symbol.asyncDispose]: async () => {
            isDisposed = true;
            // A spare has talked to nobody and has nothing to save.
            await Promise.all(idle.splice(0).map((child) => child.kill()));
            await Promise.all(Array.from(all, (child) => child.stop()));
        },
    };
}

// EXTERNAL MODULE: external "node:events"
var external_node_events_ = __webpack_require__(8474);
;// CONCATENATED MODULE: ./lib/server/bridge/lines.js
const lineFeed = 10;
/** `onOverflow` is called once, when a line grows too long; nothing is read after that. */
function createLineReader(options) {
    let parts = [];
    let pendingBytes = 0;
    let hasOverflowed = false;
    /** Whether reading goes on. */
    const keep = (part) => {
        if (hasOverflowed)
            return false;
        pendingBytes += part.length;
        hasOverflowed = pendingBytes > options.maxLineBytes;
        if (hasOverflowed) {
            parts = [];
            options.onOverflow();
        }
        else if (part.length > 0) {
            parts.push(part);
        }
        return !hasOverflowed;
    };
    const takeLine = () => {
        const [first] = parts;
        const line = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
        parts = [];
        pendingBytes = 0;
        return line.toString('utf8');
    };
    return {
        push: (chunk) => {
            let start = 0;
            for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
                if (!keep(chunk.subarray(start, end)))
                    return;
                start = end + 1;
                const line = takeLine();
                if (line !== '')
                    options.onLine(line);
            }
            keep(chunk.subarray(start));
        },
    };
}

;// CONCATENATED MODULE: ./lib/server/bridge/messages.js
/** Error codes of JSON-RPC 2.0 §5.1, of the MCP SDKs (-32000, -32001) and of MCP 2026-07-28 (-32020, -32021, -32022). */
const rpcErrorCodes = {
    parseError: -32_700,
    invalidRequest: -32_600,
    methodNotFound: -32_601,
    invalidParams: -32_602,
    connectionClosed: -32_000,
    sessionNotFound: -32_001,
    headerMismatch: -32_020,
    missingClientCapability: -32_021,
    unsupportedProtocolVersion: -32_022,
};
/** Reads one JSON-RPC 2.0 message; undefined for anything else, a batch included (MCP has had none since 2025-06-18). */
function parseMessage(json) {
    const value = parseJson(json);
    if (!isRecord(value) || value['jsonrpc'] !== '2.0')
        return undefined;
    const { id, method, params } = value;
    // Outside of strings a line break is mere white space in JSON, and inside them it is not allowed.
    const text = /[\r\n]/.test(json) ? json.replaceAll(/[\r\n]+/g, ' ') : json;
    if (typeof method === 'string') {
        const body = { method, params: isRecord(params) ? params : {}, text };
        if (isMessageId(id))
            return { kind: 'request', id, ...body };
        return id === undefined ? { kind: 'notification', ...body } : undefined;
    }
    if (!isMessageId(id))
        return undefined;
    if (isRpcError(value['error']))
        return { kind: 'response', id, result: undefined, error: value['error'], text };
    return 'result' in value ? { kind: 'response', id, result: value['result'], error: null, text } : undefined;
}
function createRequest(id, method, params) {
    return { kind: 'request', id, method, params, text: JSON.stringify({ jsonrpc: '2.0', id, method, params }) };
}
function createNotification(method, params) {
    return { kind: 'notification', method, params, text: JSON.stringify({ jsonrpc: '2.0', method, params }) };
}
/** The same answer under another id. */
function readdressResponse(response, id) {
    const { error, result } = response;
    return {
        ...response,
        id,
        text: JSON.stringify({ jsonrpc: '2.0', id, ...(error === null ? { result } : { error }) }),
    };
}
/** The JSON of an error response; `id` is null where the request could not be read. */
function renderError(id, error) {
    return JSON.stringify({ jsonrpc: '2.0', id, error });
}
function isRecord(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
function isMessageId(value) {
    return typeof value === 'string' || typeof value === 'number';
}
/** The object under `_meta` of a request's or notification's params; empty where there is none. */
function readMeta(params) {
    return isRecord(params['_meta']) ? params['_meta'] : {};
}
function isRpcError(value) {
    return isRecord(value) && typeof value['code'] === 'number' && typeof value['message'] === 'string';
}
function parseJson(json) {
    try {
        return JSON.parse(json);
    }
    catch {
        return undefined;
    }
}

;// CONCATENATED MODULE: ./lib/server/bridge/child.js



/** A message that does not end within this is no message, and a server that writes one is broken. */
const maxMessageBytes = 64 * 1024 * 1024;
/** Enough of what a server wrote to stdout instead of messages for its author to recognise it. */
const maxRubbishLength = 200;
/**
 * Reads and writes JSON-RPC lines on a process's stdio. Lines that are no message are skipped: they go to the ring, as stderr
 * does, and `onRubbish` hears of the first one.
 */
function connectChild(server, { ring, onRubbish }) {
    let listener;
    let exit = null;
    let rubbish = null;
    let isEnding = false;
    let draining;
    const unanswered = new Set();
    const reader = createLineReader({
        maxLineBytes: maxMessageBytes,
        onLine: (line) => {
            const message = parseMessage(line);
            if (message === undefined) {
                ring.append(Buffer.from(`${line}\n`));
                if (rubbish !== null)
                    return;
                rubbish = line.slice(0, maxRubbishLength);
                onRubbish?.(rubbish);
                return;
            }
            if (message.kind === 'response')
                unanswered.delete(message.id);
            listener?.onMessage(message);
        },
        onOverflow: () => {
            ring.append(Buffer.from(`A line on stdout is longer than ${maxMessageBytes} bytes; the process was ended.\n`));
            void server.kill();
        },
    });
    server.stdout.on('data', (chunk) => reader.push(chunk));
    const exited = server.exited.then((ended) => {
        exit = ended;
        if (!isEnding)
            listener?.onExit(ended);
        return ended;
    });
    return {
        get hasEnded() {
            return server.hasEnded;
        },
        get exit() {
            return exit;
        },
        get isEnding() {
            return isEnding;
        },
        get isAnswering() {
            return unanswered.size > 0;
        },
        get rubbish() {
            return rubbish;
        },
        exited,
        setListener: (next) => {
            listener = next;
        },
        send: async (message) => {
            if (message.kind === 'request')
                unanswered.add(message.id);
            if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
                unanswered.delete(message.params['requestId']);
            }
            if (exit !== null || server.stdin.destroyed || server.stdin.write(`${message.text}\n`))
                return;
            draining ??= Promise.race([(0,external_node_events_.once)(server.stdin, 'drain').catch(() => { }), exited]).finally(() => {
                draining = undefined;
            });
            await draining;
        },
        stop: async () => {
            isEnding = true;
            await server.stop();
        },
        kill: async () => {
            isEnding = true;
            await server.kill();
        },
    };
}

// EXTERNAL MODULE: external "node:http"
var external_node_http_ = __webpack_require__(7067);
;// CONCATENATED MODULE: ./lib/server/bridge/exchange.js

/** Larger requests are refused: nobody sends a tool that much, and every one is held in memory. */
const maxBodyBytes = 16 * 1024 * 1024;
function openExchange(request, response) {
    const left = new AbortController();
    response.once('close', () => {
        if (!response.writableFinished)
            left.abort();
    });
    return { request, response, signal: left.signal };
}
/** Answers with a JSON-RPC error outside of any stream. */
function refuse({ response }, status, error) {
    if (response.headersSent || response.destroyed)
        return;
    const { id = null, headers = {}, code = rpcErrorCodes.connectionClosed, ...rest } = error;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(renderError(id, { code, ...rest }));
}
/** Reads the body as text; undefined where it is too large (answered with 413) or not UTF-8 (400). */
async function readBody(exchange) {
    const { request } = exchange;
    const declaredBytes = Number(request.headers['content-length'] ?? 0);
    const chunks = [];
    let bytes = 0;
    if (declaredBytes <= maxBodyBytes) {
        for await (const chunk of request.iterator({ destroyOnReturn: false })) {
            if (!Buffer.isBuffer(chunk))
                continue;
            bytes += chunk.length;
            if (bytes > maxBodyBytes)
                break;
            chunks.push(chunk);
        }
    }
    if (Math.max(bytes, declaredBytes) > maxBodyBytes) {
        // The rest is not read, so the connection cannot serve another request.
        refuse(exchange, 413, {
            message: `The body is larger than ${maxBodyBytes} bytes.`,
            headers: { connection: 'close' },
        });
        exchange.response.once('finish', () => request.destroy());
        return undefined;
    }
    try {
        return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    }
    catch {
        refuse(exchange, 400, { code: rpcErrorCodes.parseError, message: 'The body is not UTF-8.' });
        return undefined;
    }
}
/** A header's value; undefined where it is absent or sent more than once. */
function readHeader(request, name) {
    const values = request.headersDistinct[name];
    return values?.length === 1 ? values[0] : undefined;
}

;// CONCATENATED MODULE: ./lib/server/bridge/guard.js

/**
 * Judges who may speak to the bridge: the exact secret path, a Host that names this very listener, and no Origin but its own
 * (MCP 2025-11-25, Transports, Security Warning). Null when the request may pass. `Host` is what a page that rebinds DNS
 * cannot forge, `Origin` what a browser always adds, and the path what other users of the machine cannot guess.
 */
function judgeRequest(request, listener) {
    const { host: hosts = [], origin: origins = [], upgrade } = request.headersDistinct;
    const own = [`127.0.0.1:${listener.port}`, `localhost:${listener.port}`];
    const [host] = hosts;
    if (hosts.length !== 1 || host === undefined || !own.includes(host.toLowerCase())) {
        return { status: 403, message: 'The Host header does not name this server.' };
    }
    if (!origins.every((origin) => own.some((name) => origin.toLowerCase() === `http://${name}`))) {
        return { status: 403, message: 'Requests from this Origin are not served.' };
    }
    if (!isSamePath(request.url ?? '', listener.path))
        return { status: 404, message: 'Not found.' };
    // A request line that a line break cuts short reads as HTTP/0.9.
    if (upgrade !== undefined || request.httpVersion !== '1.1') {
        return { status: 400, message: 'This server speaks HTTP/1.1 only.' };
    }
    if (!['POST', 'GET', 'DELETE'].includes(request.method ?? ''))
        return { status: 405, message: 'Method not allowed.' };
    return null;
}
function isSamePath(url, path) {
    const given = Buffer.from(url);
    const expected = Buffer.from(path);
    return given.length === expected.length && (0,external_node_crypto_.timingSafeEqual)(given, expected);
}

;// CONCATENATED MODULE: ./lib/server/bridge/listen.js






/** How often idle streams get a comment; well under the time-outs of proxies and of HTTP clients. */
const tickMs = 5000;
/** Long enough that clients do not reuse a connection just as it is closed. */
const keepAliveTimeoutMs = 60_000;
/** Listens on 127.0.0.1 on a free port, behind a random path, and hands what passes the guard to `front`. Owns `front`. */
async function openBridge(front, options) {
    const token = (0,external_node_crypto_.randomBytes)(24).toString('base64url');
    const path = `/${token}/mcp`;
    const server = (0,external_node_http_.createServer)({ keepAliveTimeout: keepAliveTimeoutMs, requireHostHeader: false });
    const { promise: listening, resolve, reject } = Promise.withResolvers();
    server.once('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve);
    await listening;
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.on('request', (request, response) => {
        const exchange = openExchange(request, response);
        const refusal = judgeRequest(request, { port, path });
        if (refusal !== null) {
            // The body of a request that is not served is not read either.
            refuse(exchange, refusal.status, { message: refusal.message, headers: { connection: 'close' } });
            return;
        }
        answer(front, exchange).catch((error) => {
            options.logger.debug(`A request to the bridge failed: ${(0,errors/* describeError */.Uc)(error)}`);
            refuse(exchange, 500, { message: 'Internal error.' });
        });
    });
    server.on('connect', (_request, socket) => socket.destroy());
    const stopped = new AbortController();
    const ticking = (async () => {
        while (!stopped.signal.aborted) {
            await options.clock.sleep(tickMs, { signal: stopped.signal });
            front.tick();
        }
    })().catch(() => { });
    return {
        url: `http://127.0.0.1:${port}${path}`,
        token,
        [Symbol.asyncDispose]: async () => {
            stopped.abort();
            server.close();
            await front[Symbol.asyncDispose]();
            server.closeAllConnections();
            await ticking;
        },
    };
}
async function answer(front, exchange) {
    const { request } = exchange;
    if (request.method === 'GET')
        return front.get(exchange);
    if (request.method === 'DELETE')
        return front.delete(exchange);
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json') {
        refuse(exchange, 415, { message: 'The Content-Type must be application/json.', headers: { connection: 'close' } });
        return;
    }
    const body = await readBody(exchange);
    if (body === undefined)
        return;
    const message = parseMessage(body);
    if (message === undefined) {
        const text = 'The body is not one JSON-RPC 2.0 message.';
        refuse(exchange, 400, { code: rpcErrorCodes.parseError, message: text });
        return;
    }
    await front.post(message, exchange);
}

;// CONCATENATED MODULE: ./lib/server/bridge/reply.js
/** A client that lets this much pile up is not reading; it is cut off, so that the others are not held up. */
const maxBufferedBytes = 64 * 1024 * 1024;
/** As MCP's own servers send them; `X-Accel-Buffering` keeps proxies in between from holding events back. */
const eventStreamHeaders = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
};
/** Headers are sent with the first message, so that a short answer is one write and its status can still be chosen. */
function openReply(response, options) {
    const { format } = options;
    const writeEventStreamHead = () => {
        if (!response.headersSent)
            response.writeHead(200, { ...eventStreamHeaders, ...options.headers });
    };
    const write = (payload) => {
        response.write(payload);
        if (response.writableLength > maxBufferedBytes)
            response.destroy();
    };
    const isOpen = () => !response.writableEnded && !response.destroyed;
    return {
        get isOpen() {
            return isOpen();
        },
        send: (text) => {
            if (!isOpen() || format === 'json')
                return;
            writeEventStreamHead();
            write(renderEvent(text));
        },
        end: (text, status = 200) => {
            if (!isOpen())
                return;
            if (response.headersSent || (format === 'sse' && status === 200)) {
                writeEventStreamHead();
                response.end(text === undefined ? undefined : renderEvent(text));
                return;
            }
            const type = text === undefined ? {} : { 'content-type': 'application/json' };
            response.writeHead(status, { ...type, ...options.headers });
            response.end(text);
        },
        keepAlive: () => {
            if (!isOpen() || format === 'json')
                return;
            writeEventStreamHead();
            write(': keep-alive\n\n');
        },
    };
}
function renderEvent(text) {
    return `event: message\ndata: ${text}\n\n`;
}

;// CONCATENATED MODULE: ./lib/server/bridge/session.js

/** Messages kept for a client that has not opened its own stream yet; the oldest go first. */
const maxHeldMessages = 100;
/** `onEnd` is called once, with the exit where the server ended by itself. */
function openSession(id, child, onEnd) {
    // A Map keyed by the id itself tells 1 from "1", as JSON-RPC does.
    const inFlight = new Map();
    const held = [];
    let own;
    let hasEnded = false;
    const findReply = (message) => {
        const open = [...inFlight.values()].filter((request) => request.reply.isOpen);
        if (message.kind === 'notification' && message.method === 'notifications/progress') {
            const token = message.params['progressToken'];
            const asked = open.find((request) => request.progressToken === token && token !== undefined);
            if (asked !== undefined)
                return asked.reply;
        }
        // stdio does not say which request a message belongs to. With one in flight it is that one; else the client's own stream.
        if (open.length === 1)
            return open[0]?.reply;
        return own?.isOpen === true ? own : open.at(-1)?.reply;
    };
    const deliver = (message) => {
        if (message.kind === 'response') {
            const request = inFlight.get(message.id);
            inFlight.delete(message.id);
            request?.reply.end(message.text);
            // A session that was not granted is none, and its client will not end it.
            if (request?.method === 'initialize' && message.error !== null)
                void session.end();
            return;
        }
        const reply = findReply(message);
        if (reply !== undefined) {
            reply.send(message.text);
            return;
        }
        // A server may speak as soon as it is initialized, while the client is still opening the stream that would carry it.
        held.push(message);
        if (held.length > maxHeldMessages)
            held.shift();
    };
    const finish = (exit) => {
        if (hasEnded)
            return;
        hasEnded = true;
        for (const request of inFlight.values())
            request.reply.end(renderError(request.id, describeEnd(exit)));
        inFlight.clear();
        own?.end();
        onEnd(session, exit);
    };
    const session = {
        id,
        get isBusy() {
            return own?.isOpen === true || [...inFlight.values()].some((request) => request.reply.isOpen);
        },
        get hasLostStream() {
            return own?.isOpen === false;
        },
        request: async (message, reply) => {
            if (inFlight.has(message.id)) {
                const text = `A request with the id ${JSON.stringify(message.id)} is already in flight in this session.`;
                reply.end(renderError(message.id, { code: rpcErrorCodes.invalidRequest, message: text }), 400);
                return;
            }
            const { id, method } = message;
            inFlight.set(id, { id, method, progressToken: readMeta(message.params)['progressToken'], reply });
            await child.send(message);
        },
        notify: async (message) => {
            await child.send(message);
            if (message.kind !== 'notification' || message.method !== 'notifications/cancelled')
                return;
            // A cancelled request is not answered, so its stream has nothing more to carry.
            const { requestId } = message.params;
            if (!isMessageId(requestId))
                return;
            inFlight.get(requestId)?.reply.end();
            inFlight.delete(requestId);
        },
        listen: (reply) => {
            if (own?.isOpen === true)
                return false;
            own = reply;
            reply.keepAlive();
            for (const message of held.splice(0))
                reply.send(message.text);
            return true;
        },
        keepAlive: () => {
            own?.keepAlive();
            for (const request of inFlight.values())
                request.reply.keepAlive();
        },
        end: async () => {
            finish(null);
            await child.stop();
        },
    };
    child.setListener({ onMessage: deliver, onExit: finish });
    return session;
}
/** What is said of a request whose server is gone. Callers tell it from a server's own error by `data.reason`. */
function describeEnd(exit) {
    if (exit === null) {
        return {
            code: rpcErrorCodes.connectionClosed,
            message: 'The session was ended.',
            data: { reason: 'session_ended' },
        };
    }
    const how = exit.code === null ? `was ended by ${exit.signal ?? 'an error'}` : `exited with code ${exit.code}`;
    return {
        code: rpcErrorCodes.connectionClosed,
        message: `The server under test ${how} before it answered.`,
        data: { reason: 'server_exited', exitCode: exit.code },
    };
}

;// CONCATENATED MODULE: ./lib/server/bridge/sessions.js







/** Every session may be a process. Beyond this, those that nobody uses make room. */
const maxSessions = 32;
/** A client whose own stream broke opens it again within seconds; one that does not has left without a word. */
const abandonedTimeoutMs = 30_000;
/** Sessions whose server ended by itself and of which that can still be told. */
const maxRemembered = 100;
/**
 * Serves the protocol with sessions (MCP 2025-11-25, Streamable HTTP): `initialize` opens one with a server of its own from
 * the source, DELETE or `idleTimeoutMs` without use ends it. A client that merely disconnects has cancelled nothing.
 */
function serveSessions(options) {
    const { source, clock, logger } = options;
    const entries = new Map();
    const endings = new Set();
    /** How the servers of sessions ended that ended by themselves, to be told to clients who still ask for them. */
    const lost = new Map();
    /** Of clients whose server is still to come. */
    const waiting = new Set();
    const endSession = (session) => {
        const ending = session.end();
        endings.add(ending);
        void ending.finally(() => endings.delete(ending));
    };
    /** Whether there is room for one more session, after ending the one that has been unused longest if need be. */
    const makeRoom = () => {
        if (entries.size + waiting.size < maxSessions)
            return true;
        const [oldest] = [...entries.values()]
            .filter((entry) => !entry.session.isBusy)
            .sort((a, b) => a.lastUsedMs - b.lastUsedMs);
        if (oldest !== undefined)
            endSession(oldest.session);
        return oldest !== undefined;
    };
    const forget = (session, exit) => {
        entries.delete(session.id);
        if (exit === null)
            return;
        lost.set(session.id, exit);
        const [oldest] = lost.keys();
        if (lost.size > maxRemembered && oldest !== undefined)
            lost.delete(oldest);
    };
    /** The session that the request names, or undefined once the request has been refused. */
    const findSession = (exchange) => {
        const version = readHeader(exchange.request, 'mcp-protocol-version');
        if (version !== undefined && !legacyVersions.includes(version)) {
            const known = legacyVersions.join(', ');
            refuse(exchange, 400, {
                message: `Unsupported MCP-Protocol-Version ${JSON.stringify(version)}; known: ${known}.`,
            });
            return undefined;
        }
        if (exchange.request.headers['mcp-session-id'] === undefined) {
            refuse(exchange, 400, { message: 'The Mcp-Session-Id header is missing; send initialize first.' });
            return undefined;
        }
        const id = readHeader(exchange.request, 'mcp-session-id') ?? '';
        const entry = entries.get(id);
        if (entry === undefined) {
            const exit = lost.get(id);
            const known = exit === undefined ? { message: 'Session not found; initialize again.' } : describeEnd(exit);
            refuse(exchange, 404, { ...known, code: rpcErrorCodes.sessionNotFound });
            return undefined;
        }
        entry.lastUsedMs = clock.monotonicMs();
        return entry.session;
    };
    const initialize = async (message, exchange, format) => {
        if (!makeRoom()) {
            refuse(exchange, 503, { id: message.id, message: `${maxSessions} sessions are in use; end one first.` });
            return;
        }
        const id = (0,external_node_crypto_.randomUUID)();
        const reply = openReply(exchange.response, { format, headers: { 'mcp-session-id': id } });
        waiting.add(reply);
        try {
            const child = await source.take({ signal: exchange.signal });
            const session = openSession(id, child, forget);
            entries.set(id, { session, lastUsedMs: clock.monotonicMs() });
            if (exchange.signal.aborted)
                endSession(session);
            else
                await session.request(message, reply);
        }
        catch (error) {
            logger.debug(`No server for a new session: ${(0,errors/* describeError */.Uc)(error)}`);
            const data = { reason: 'server_exited' };
            const answer = { code: rpcErrorCodes.connectionClosed, message: (0,errors/* describeError */.Uc)(error), data };
            reply.end(renderError(message.id, answer), 503);
        }
        finally {
            waiting.delete(reply);
        }
    };
    return {
        post: async (message, exchange) => {
            const format = chooseFormat(exchange);
            if (format === undefined)
                return;
            const isInitialize = message.kind === 'request' && message.method === 'initialize';
            if (isInitialize && exchange.request.headers['mcp-session-id'] === undefined) {
                await initialize(message, exchange, format);
                return;
            }
            const session = findSession(exchange);
            if (session === undefined)
                return;
            if (isInitialize) {
                const text = 'This session is initialized already.';
                refuse(exchange, 400, { id: message.id, code: rpcErrorCodes.invalidRequest, message: text });
            }
            else if (message.kind === 'request') {
                await session.request(message, openReply(exchange.response, { format, headers: { 'mcp-session-id': session.id } }));
            }
            else {
                await session.notify(message);
                exchange.response.writeHead(202).end();
            }
        },
        get: async (exchange) => {
            if (!accepts(exchange, 'text/event-stream')) {
                refuse(exchange, 406, { message: 'The client must accept text/event-stream.' });
                return;
            }
            const session = findSession(exchange);
            if (session === undefined)
                return;
            const headers = { 'mcp-session-id': session.id };
            if (session.listen(openReply(exchange.response, { format: 'sse', headers })))
                return;
            refuse(exchange, 409, { message: 'This session has a stream of its own already.' });
        },
        delete: async (exchange) => {
            const session = findSession(exchange);
            if (session === undefined)
                return;
            endSession(session);
            exchange.response.writeHead(200).end();
        },
        tick: () => {
            const nowMs = clock.monotonicMs();
            for (const reply of waiting)
                reply.keepAlive();
            for (const entry of entries.values()) {
                if (entry.session.isBusy)
                    entry.lastUsedMs = nowMs;
                entry.session.keepAlive();
                const timeoutMs = entry.session.hasLostStream ? abandonedTimeoutMs : options.idleTimeoutMs;
                if (nowMs - entry.lastUsedMs >= timeoutMs)
                    endSession(entry.session);
            }
        },
        [Symbol.asyncDispose]: async () => {
            for (const entry of entries.values())
                endSession(entry.session);
            await Promise.all([...endings, source[Symbol.asyncDispose]()]);
        },
    };
}
/** An event stream wherever the client takes one, as MCP's own servers do; undefined once the request has been refused. */
function chooseFormat(exchange) {
    if (accepts(exchange, 'text/event-stream'))
        return 'sse';
    if (accepts(exchange, 'application/json'))
        return 'json';
    refuse(exchange, 406, { message: 'The client must accept application/json and text/event-stream.' });
    return undefined;
}
function accepts(exchange, type) {
    const accept = exchange.request.headers.accept ?? '';
    return accept.includes(type) || accept.includes('*/*');
}

;// CONCATENATED MODULE: ./lib/server/bridge/renumbering.js


function createRenumbering() {
    const assigned = new Map();
    let lastNumber = 0;
    const find = (id) => (typeof id === 'number' ? assigned.get(id) : undefined);
    return {
        assign: (request, owner) => {
            lastNumber += 1;
            const number = lastNumber;
            const meta = readMeta(request.params);
            const { progressToken } = meta;
            assigned.set(number, { id: request.id, progressToken, owner });
            if (progressToken === undefined)
                return createRequest(number, request.method, request.params);
            const params = { ...request.params, _meta: { ...meta, progressToken: number } };
            return createRequest(number, request.method, params);
        },
        resolve: (response) => {
            const entry = find(response.id);
            if (entry === undefined)
                return undefined;
            assigned.delete(response.id);
            const { result } = response;
            const restored = isRecord(result) ? { ...response, result: restoreSubscription(result, entry.id) } : response;
            return { owner: entry.owner, message: readdressResponse(restored, entry.id) };
        },
        locate: (notification) => {
            const { method, params } = notification;
            const progress = method === 'notifications/progress' ? find(params['progressToken']) : undefined;
            if (progress !== undefined) {
                const restored = { ...params, progressToken: progress.progressToken };
                return { owner: progress.owner, message: createNotification(method, restored) };
            }
            const subscription = find(readMeta(params)[dist/* SUBSCRIPTION_ID_META_KEY */.m2]);
            if (subscription === undefined)
                return undefined;
            const restored = restoreSubscription(params, subscription.id);
            return { owner: subscription.owner, message: createNotification(method, restored) };
        },
        cancel: (isCancelled, params) => [...assigned].flatMap(([number, entry]) => {
            if (!isCancelled(entry.owner))
                return [];
            assigned.delete(number);
            return [createNotification('notifications/cancelled', { ...params, requestId: number })];
        }),
        listOwners: () => Array.from(assigned.values(), (entry) => entry.owner),
        clear: () => assigned.clear(),
    };
}
/** A subscription is named by the id of the request that opened it (MCP 2026-07-28, subscriptions/listen). */
function restoreSubscription(carrier, id) {
    const meta = readMeta(carrier);
    return dist/* SUBSCRIPTION_ID_META_KEY */.m2 in meta
        ? { ...carrier, _meta: { ...meta, [dist/* SUBSCRIPTION_ID_META_KEY */.m2]: id } }
        : carrier;
}

;// CONCATENATED MODULE: ./lib/server/bridge/shared-child.js



/** How long the process may take, after a call was given up, to show that it still answers. */
const proofOfLifeMs = 2000;
/**
 * Lets sessions use one process in turns: `take` waits until the turn before has ended. A process can be initialized only
 * once, so its first answer is repeated to later sessions; request ids are renumbered, because every client starts at 0 and
 * an answer that comes late must not reach the next one. A process that a call has blocked would fail every turn after it, so
 * it is replaced.
 */
function shareChild(pool, options) {
    // Started at once, so that the first session finds it up.
    let shared = takeShared(pool);
    let lastTurn = Promise.resolve();
    shared.catch(() => { });
    const ensureShared = async () => {
        const { child } = await shared;
        if (child.exit !== null || child.isEnding)
            shared = takeShared(pool);
        return shared;
    };
    return {
        take: async ({ signal }) => {
            const before = lastTurn;
            const { promise, resolve: endTurn } = Promise.withResolvers();
            lastTurn = before.then(() => promise);
            try {
                await Promise.race([before, rejectOnAbort(signal)]);
                return openTurn(await ensureShared(), { ...options, endTurn });
            }
            catch (error) {
                endTurn();
                throw error;
            }
        },
        [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
    };
}
async function takeShared(pool) {
    const child = await pool.take();
    return { child, renumbering: createRenumbering(), initializeResult: null, isInitialized: false };
}
function openTurn(shared, { clock, logger, endTurn }) {
    const { child, renumbering } = shared;
    let listener;
    let isOver = false;
    let hasGivenUp = false;
    const initialize = async (request) => {
        const known = shared.initializeResult;
        if (known === null) {
            await child.send(renumbering.assign(request, request));
        }
        else {
            listener?.onMessage(readdressResponse(known, request.id));
        }
    };
    const hear = (message) => {
        if (message.kind === 'response') {
            const answered = renumbering.resolve(message);
            if (answered === undefined)
                return;
            if (answered.owner.method === 'initialize' && message.error === null)
                shared.initializeResult = message;
            listener?.onMessage(answered.message);
        }
        else {
            listener?.onMessage(message.kind === 'notification' ? (renumbering.locate(message)?.message ?? message) : message);
        }
    };
    child.setListener({
        onMessage: hear,
        onExit: (exit) => {
            isOver = true;
            endTurn();
            listener?.onExit(exit);
        },
    });
    return {
        setListener: (next) => {
            listener = next;
        },
        send: async (message) => {
            if (message.kind === 'request') {
                await (message.method === 'initialize'
                    ? initialize(message)
                    : child.send(renumbering.assign(message, message)));
            }
            else if (message.kind === 'notification' && message.method === 'notifications/initialized') {
                if (!shared.isInitialized)
                    await child.send(message);
                shared.isInitialized = true;
            }
            else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
                const cancelled = renumbering.cancel((request) => request.id === message.params['requestId'], message.params);
                hasGivenUp ||= cancelled.length > 0;
                for (const notification of cancelled)
                    await child.send(notification);
            }
            else {
                await child.send(message);
            }
        },
        stop: async () => {
            if (isOver)
                return;
            isOver = true;
            const cancelled = renumbering.cancel(() => true, { reason: 'The session was ended.' });
            for (const notification of cancelled)
                void child.send(notification);
            child.setListener({ onMessage: (message) => refuseBetweenTurns(child, message), onExit: () => { } });
            if (shared.initializeResult === null) {
                // One that was interrupted while it was initialized can be initialized neither again nor further.
                await child.stop();
            }
            else if ((hasGivenUp || cancelled.length > 0) && !(await provesAlive(shared, clock))) {
                logger.warning('The server under test answers nothing since a call was given up; the iterations to come get a fresh process.');
                await child.kill();
            }
            endTurn();
        },
    };
}
/** Whether the process answers a ping; any answer will do, an error included. */
async function provesAlive({ child, renumbering }, clock) {
    const request = createRequest('ping', 'ping', {});
    const ping = renumbering.assign(request, request);
    const { promise: answered, resolve } = Promise.withResolvers();
    child.setListener({
        onMessage: (message) => {
            if (message.kind === 'response' && message.id === ping.id)
                resolve(true);
            refuseBetweenTurns(child, message);
        },
        onExit: () => { },
    });
    const timer = new AbortController();
    const timeout = clock.sleep(proofOfLifeMs, { signal: timer.signal }).then(() => false, () => false);
    void child.send(ping);
    // One that ends is replaced without our help.
    const isAlive = await Promise.race([answered, timeout, child.exited.then(() => true)]);
    timer.abort();
    renumbering.clear();
    return isAlive;
}
/** A server that asks for something while nobody is there gets an answer, so that it does not wait for one. */
function refuseBetweenTurns(child, message) {
    if (message.kind !== 'request')
        return;
    const error = { code: rpcErrorCodes.connectionClosed, message: 'No client is connected.' };
    void child.send({ ...createNotification('', {}), text: renderError(message.id, error) });
}
function rejectOnAbort(signal) {
    return new Promise((_, reject) => {
        const abort = () => reject(new errors/* CancelledError */.cc('The client left while it waited for its turn.'));
        if (signal.aborted)
            abort();
        else
            signal.addEventListener('abort', abort, { once: true });
    });
}

;// CONCATENATED MODULE: ./lib/server/bridge/routing-headers.js




/** Which member of `params` the `Mcp-Name` header repeats, by method (MCP 2026-07-28, Streamable HTTP, Standard Headers). */
const namedBy = new Map([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
    ['tasks/get', 'taskId'],
    ['tasks/update', 'taskId'],
    ['tasks/cancel', 'taskId'],
]);
/**
 * Checks what MCP 2026-07-28 asks of every HTTP request: it names its protocol version in the body, and the headers that
 * proxies route by agree with the body. Null when they do; else the error to answer with status 400. `Mcp-Param-*` is not
 * checked: only the server knows its tools' schemas, and on stdio nobody routes by it.
 */
function judgeRoutingHeaders(message, request) {
    const version = readMeta(message.params)[dist/* PROTOCOL_VERSION_META_KEY */.Uw];
    const versionHeader = readHeader(request, 'mcp-protocol-version');
    if (typeof version !== 'string') {
        if (versionHeader === modernVersion) {
            const text = `The request lacks params._meta[${JSON.stringify(dist/* PROTOCOL_VERSION_META_KEY */.Uw)}].`;
            return { code: rpcErrorCodes.invalidParams, message: text };
        }
        return refuseVersion(versionHeader ?? message.params['protocolVersion'] ?? null);
    }
    const name = message.params[namedBy.get(message.method) ?? ''];
    const expected = [
        ['MCP-Protocol-Version', version],
        ['Mcp-Method', message.method],
        ...(typeof name === 'string' ? [['Mcp-Name', name]] : []),
    ];
    for (const [header, bodyValue] of expected) {
        const value = readHeader(request, header.toLowerCase());
        if (value !== undefined && decodeHeaderValue(value) === bodyValue)
            continue;
        const text = `The ${header} header is ${JSON.stringify(value ?? null)}, but the body says ${JSON.stringify(bodyValue)}.`;
        return { code: rpcErrorCodes.headerMismatch, message: text, data: { header } };
    }
    return version === modernVersion ? null : refuseVersion(version);
}
function refuseVersion(requested) {
    return {
        code: rpcErrorCodes.unsupportedProtocolVersion,
        message: `This server speaks MCP ${modernVersion} only.`,
        data: { supported: [modernVersion], requested },
    };
}
/** Values that a header cannot hold come as `=?base64?…?=` over UTF-8; undefined where that is not canonical Base64. */
function decodeHeaderValue(value) {
    const base64 = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
    if (base64 === undefined)
        return value;
    const bytes = Buffer.from(base64, 'base64');
    return bytes.toString('base64') === base64 ? bytes.toString('utf8') : undefined;
}

;// CONCATENATED MODULE: ./lib/server/bridge/stateless.js








/** The statuses that errors of the protocol itself are sent with; a tool's own errors are results (MCP 2026-07-28). */
const statusByErrorCode = new Map([
    [rpcErrorCodes.methodNotFound, 404],
    [rpcErrorCodes.headerMismatch, 400],
    [rpcErrorCodes.missingClientCapability, 400],
    [rpcErrorCodes.unsupportedProtocolVersion, 400],
]);
/**
 * Serves the stateless protocol (MCP 2026-07-28): every client's requests go to one process, and a response stream that the
 * client closes becomes `notifications/cancelled`, which is how cancelling is said on stdio.
 */
function serveStateless(pool) {
    const renumbering = createRenumbering();
    let current;
    const hear = (message) => {
        if (message.kind === 'response') {
            const answered = renumbering.resolve(message);
            const status = statusByErrorCode.get(message.error?.code ?? 0) ?? 200;
            answered?.owner.reply.end(answered.message.text, status);
        }
        else if (message.kind === 'notification') {
            const located = renumbering.locate(message) ?? adopt(message, renumbering.listOwners());
            located?.owner.reply.send(located.message.text);
        }
    };
    const ensureChild = () => {
        current ??= pool.take().then((child) => {
            child.setListener({
                onMessage: hear,
                onExit: (exit) => {
                    current = undefined;
                    for (const { request, reply } of renumbering.listOwners()) {
                        reply.end(renderError(request.id, describeEnd(exit)));
                    }
                    renumbering.clear();
                },
            });
            return child;
        });
        current.catch(() => {
            current = undefined;
        });
        return current;
    };
    // Started at once, so that the first request finds it up; what is wrong with it the first request is told.
    ensureChild().catch(() => { });
    const forward = async (request, exchange) => {
        const child = await ensureChild();
        const waiting = { request, reply: openReply(exchange.response, { format: 'auto' }) };
        if (exchange.signal.aborted)
            return;
        exchange.signal.addEventListener('abort', () => {
            for (const notification of renumbering.cancel((owner) => owner === waiting, {}))
                void child.send(notification);
        });
        await child.send(renumbering.assign(request, waiting));
    };
    const refuseMethod = async (exchange) => refuse(exchange, 405, { message: 'Method not allowed.', headers: { allow: 'POST' } });
    return {
        post: async (message, exchange) => {
            if (message.kind === 'response') {
                refuse(exchange, 400, {
                    code: rpcErrorCodes.invalidRequest,
                    message: 'This server asks nothing, so expects no answer.',
                });
                return;
            }
            try {
                if (message.kind === 'request') {
                    const fault = judgeRoutingHeaders(message, exchange.request);
                    if (fault === null)
                        await forward(message, exchange);
                    else
                        refuse(exchange, 400, { id: message.id, ...fault });
                    return;
                }
                // Over HTTP nothing is cancelled by a message, and the ids in one would be another client's here.
                if (message.method !== 'notifications/cancelled')
                    await (await ensureChild()).send(message);
                exchange.response.writeHead(202).end();
            }
            catch (error) {
                const id = message.kind === 'request' ? { id: message.id } : {};
                refuse(exchange, 503, { ...id, message: (0,errors/* describeError */.Uc)(error), data: { reason: 'server_exited' } });
            }
        },
        get: refuseMethod,
        delete: refuseMethod,
        tick: () => {
            for (const { reply } of renumbering.listOwners())
                reply.keepAlive();
        },
        [Symbol.asyncDispose]: async () => {
            for (const { request, reply } of renumbering.listOwners())
                reply.end(renderError(request.id, describeEnd(null)));
            renumbering.clear();
            await pool[Symbol.asyncDispose]();
        },
    };
}
/** Log messages name no request on stdio. They go to the only one that can have caused them; else nobody can tell. */
function adopt(message, owners) {
    const asking = owners.filter((owner) => readMeta(owner.request.params)[dist/* LOG_LEVEL_META_KEY */.Ap] !== undefined);
    const [owner] = owners.length === 1 ? owners : asking;
    return owner === undefined || (owners.length > 1 && asking.length > 1) ? undefined : { owner, message };
}

// EXTERNAL MODULE: ./node_modules/zod/v4/classic/schemas.js + 2 modules
var schemas = __webpack_require__(8343);
;// CONCATENATED MODULE: ./lib/server/ready-stdio.js




const serverInfoSchema = schemas/* object */.Ikc({ name: schemas/* string */.YjP(), version: schemas/* string */.YjP() }).partial().catch({});
const initializeResultSchema = schemas/* object */.Ikc({ protocolVersion: schemas/* string */.YjP(), serverInfo: serverInfoSchema });
const discoverResultSchema = schemas/* object */.Ikc({
    supportedVersions: schemas/* array */.YOg(schemas/* string */.YjP()),
    _meta: schemas/* object */.Ikc({ [dist/* SERVER_INFO_META_KEY */.$D]: serverInfoSchema }).catch({ [dist/* SERVER_INFO_META_KEY */.$D]: {} }),
});
/**
 * Asks a fresh server to `initialize`, and to `server/discover` itself where it refuses that. Resolves with what it answered;
 * never while it is silent, so callers watch the clock and the process.
 */
async function probeStdio(child) {
    const initialize = createRequest('initialize', 'initialize', {
        protocolVersion: latestLegacyVersion,
        capabilities: {},
        clientInfo: probeClientInfo,
    });
    const initialized = await ask(child, initialize);
    const legacy = initializeResultSchema.safeParse(initialized.result);
    if (legacy.success) {
        await child.send(createNotification('notifications/initialized', {}));
        const { protocolVersion, serverInfo } = legacy.data;
        return { ok: true, handshake: { protocol: 'legacy', protocolVersion, ...nameServer(serverInfo) } };
    }
    if (initialized.error === null)
        return { ok: false, answer: initialized.text };
    const discover = createRequest('discover', 'server/discover', {
        _meta: {
            [dist/* PROTOCOL_VERSION_META_KEY */.Uw]: modernVersion,
            [dist/* CLIENT_INFO_META_KEY */.Dx]: probeClientInfo,
            [dist/* CLIENT_CAPABILITIES_META_KEY */.Pk]: {},
        },
    });
    const discovered = await ask(child, discover);
    const modern = discoverResultSchema.safeParse(discovered.result);
    if (!modern.success || !modern.data.supportedVersions.includes(modernVersion)) {
        return { ok: false, answer: initialized.text };
    }
    const serverInfo = modern.data._meta[dist/* SERVER_INFO_META_KEY */.$D];
    return { ok: true, handshake: { protocol: 'modern', protocolVersion: modernVersion, ...nameServer(serverInfo) } };
}
function ask(child, request) {
    return new Promise((resolve) => {
        child.setListener({
            onMessage: (message) => {
                if (message.kind === 'response' && message.id === request.id)
                    resolve(message);
            },
            onExit: () => { },
        });
        void child.send(request);
    });
}
function nameServer(info) {
    return { name: info.name ?? null, version: info.version ?? null };
}

;// CONCATENATED MODULE: ./lib/server/open-stdio.js












/** A session nobody uses: long enough for a model to think between two calls. Shorter where the next session waits for it. */
const idleTimeoutMs = { iteration: 5 * 60_000, run: 60_000 };
/**
 * Checks that the command speaks MCP on stdio, then serves it over HTTP. What it writes to stdout besides messages is skipped
 * with one warning: many servers greet there, and most clients put up with it.
 */
async function openStdioServer(start, options) {
    const { clock, logger, ring } = start;
    const warnOfRubbish = createRubbishWarning(logger);
    const startServer = () => startProcess(start.words, { ...start, readsStdin: true });
    // Where there is no readiness, the error quotes the line, and a warning would say it twice.
    const handshake = await probeCommand(start, () => connectChild(startServer(), { ring }), warnOfRubbish);
    const startChild = () => connectChild(startServer(), { ring, onRubbish: warnOfRubbish });
    const isStateless = handshake.protocol === 'modern';
    const isShared = isStateless || options.isolation === 'run';
    const lost = Promise.withResolvers();
    const pool = createChildPool({
        startChild,
        spares: isShared ? 0 : options.spares,
        wanted: options.sessions ?? null,
        logger,
        onLost: (exit, child) => {
            // With all its answers given, a process that served one session takes nothing with it.
            if (isShared || child.isAnswering)
                lost.resolve(createLostError(exit, ring));
        },
    });
    const front = isStateless
        ? serveStateless(pool)
        : serveSessions({
            source: isShared ? shareChild(pool, { clock, logger }) : giveChildren(pool),
            clock,
            logger,
            idleTimeoutMs: idleTimeoutMs[options.isolation],
        });
    const bridge = await openBridge(front, { clock, logger });
    return {
        url: bridge.url,
        token: bridge.token,
        protocol: handshake.protocol,
        report: {
            transport: 'stdio',
            name: handshake.name,
            version: handshake.version,
            protocolVersion: handshake.protocolVersion,
            isolation: isStateless ? 'stateless' : isShared ? 'one process for the run' : 'process per iteration',
        },
        lost: lost.promise,
        [Symbol.asyncDispose]: () => bridge[Symbol.asyncDispose](),
    };
}
function giveChildren(pool) {
    return { take: () => pool.take(), [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}
/**
 * The process that is asked who it is serves nobody afterwards: the first client is to initialize its server itself, with its
 * own capabilities. It is gone before the next one starts, which may want the same port or lock file.
 */
async function probeCommand(start, startChild, warnOfRubbish) {
    const { command, ring } = start;
    const child = startChild();
    const describeRubbish = () => child.rubbish === null
        ? ''
        : ` On stdout, where only MCP messages belong, it wrote: ${JSON.stringify(child.rubbish)}.`;
    try {
        const probe = await waitForReadiness(() => probeStdio(child), {
            ...start,
            exited: child.exited.then((exit) => createExitError(command, exit, { ring, remark: describeRubbish() })),
            createTimeoutError: () => {
                const time = (0,deadline/* formatDuration */.a3)(start.readyTimeoutMs);
                return new errors/* ServerStartError */.K4(`The server under test did not answer initialize on stdio within ${time}.${describeRubbish()}`, {
                    stderrTail: ring.readLines(tailLines),
                    hint: child.rubbish === null
                        ? 'If the command serves HTTP, give its URL with server-url as well; if it only needs longer, raise the ready timeout.'
                        : 'A server on stdio writes its logs to stderr. If the command serves HTTP, give its URL with server-url as well.',
                });
            },
        });
        if (probe.ok) {
            if (child.rubbish !== null)
                warnOfRubbish(child.rubbish);
            return probe.handshake;
        }
        throw new errors/* ServerStartError */.K4(`The server under test answered initialize with something else than an MCP handshake: ${probe.answer.slice(0, 500)}`, {
            stderrTail: ring.readLines(tailLines),
            hint: 'Check that the command starts an MCP server.',
        });
    }
    finally {
        await child.stop();
    }
}
function createRubbishWarning(logger) {
    let hasWarned = false;
    return (line) => {
        if (hasWarned)
            return;
        hasWarned = true;
        logger.warning(`The server under test writes to stdout, where only MCP messages belong; such lines are skipped. First: ${JSON.stringify(line)}. Its logs belong on stderr.`);
    };
}

// EXTERNAL MODULE: ./lib/server/sweep.js
var server_sweep = __webpack_require__(9419);
;// CONCATENATED MODULE: ./lib/server/open.js










/** Left-overs of a stopped server get this long between SIGTERM and SIGKILL. */
const sweepGraceMs = 500;
/**
 * Starts the server under test, or finds the one at the URL, and resolves once it has answered an MCP handshake.
 *
 * @throws {ServerStartError} when it exits, stays silent for `readyTimeoutMs` or speaks no MCP.
 * @throws {ConfigurationError} when the command or the URL cannot be read.
 */
async function openServer(options, context) {
    context.signal.throwIfAborted();
    const { command, url } = options;
    if (url !== null)
        checkUrl(url);
    const sessionMarker = command === null ? null : (options.sessionMarker ?? (0,external_node_crypto_.randomUUID)());
    const ring = createOutputRing();
    const start = command === null
        ? null
        : {
            ...context,
            command,
            words: splitCommand(command),
            cwd: options.cwd,
            env: (0,environment/* buildChildEnvironment */.s)(context.environment, { ...options.env, [environment/* markerVariable */.n]: sessionMarker ?? '' }),
            ring,
            readyTimeoutMs: options.readyTimeoutMs,
        };
    const sweep = async () => {
        if (sessionMarker !== null)
            await (0,server_sweep/* stopMarkedProcesses */.a)(sessionMarker, { graceMs: sweepGraceMs, clock: context.clock });
    };
    try {
        const reached = await reachServer(options, { context, start });
        return {
            ...reached,
            secrets: reached.token === null ? [] : [new redaction/* Secret */.zh(reached.token)],
            sessionMarker,
            stderrTail: (maxLines = tailLines) => ring.readLines(maxLines),
            [Symbol.asyncDispose]: async () => {
                await reached[Symbol.asyncDispose]();
                await sweep();
            },
        };
    }
    catch (error) {
        await sweep();
        throw error;
    }
}
function reachServer(options, { context, start }) {
    if (options.url !== null) {
        return openHttpServer(options.url, { ...context, start, readyTimeoutMs: options.readyTimeoutMs });
    }
    if (start !== null)
        return openStdioServer(start, options);
    const message = 'neither a server command nor a server URL is given; there is nothing to test';
    throw new errors/* ConfigurationError */.j1([{ code: 'missing-server', input: 'server-command', message }]);
}
function splitCommand(command) {
    const fail = (message, cause) => {
        throw new errors/* ConfigurationError */.j1([{ code: 'invalid-command', input: 'server-command', message }], { cause });
    };
    try {
        const words = split(command);
        return words.length > 0 ? words : fail('the command is empty');
    }
    catch (error) {
        if (error instanceof errors/* ConfigurationError */.j1)
            throw error;
        return fail(`${JSON.stringify(command)} cannot be split into words: ${(0,errors/* describeError */.Uc)(error)}`, error);
    }
}
function checkUrl(url) {
    // The value is never repeated: it may hold a password, and anywhere in it where it cannot be parsed.
    const fail = (message) => {
        throw new errors/* ConfigurationError */.j1([{ code: 'invalid-url', input: 'server-url', message }]);
    };
    if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol)) {
        fail('the value is not an http: or https: URL, such as http://127.0.0.1:3000/mcp');
    }
    const { username, password } = new URL(url);
    if (username !== '' || password !== '')
        fail('the URL holds a user name or password, which HTTP clients refuse to send');
}


/***/ })

};
