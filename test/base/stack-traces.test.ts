import { describe, expect, it } from 'vitest';
import { cutTrace, isFrame, listFrames } from '../../src/base/stack-traces.ts';

/** What programs printed that failed: Node.js 20, Python 3, Go 1, Rust 1 and Java 17. The trace of .NET is written by hand, after the form that .NET prints. */
const traces = {
  node: `TypeError: Cannot read properties of undefined (reading 'name')
    at lookUp (file:///repo/a.mjs:1:37)
    at main (file:///repo/a.mjs:2:25)
    at file:///repo/a.mjs:3:1
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)
    at async ModuleLoader.import (node:internal/modules/esm/loader:606:24)
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:117:5)
file:///repo/a.mjs:1
function lookUp(city) { return city.name; }
                                    ^

TypeError: Cannot read properties of null (reading 'name')
    at lookUp (file:///repo/a.mjs:1:37)
    at file:///repo/a.mjs:2:102
    at new Promise (<anonymous>)
    at main (file:///repo/a.mjs:2:84)
    at file:///repo/a.mjs:3:1
    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)
    at async ModuleLoader.import (node:internal/modules/esm/loader:606:24)
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:117:5)

Node.js v20.20.2
`,
  python: `Traceback (most recent call last):
  File "/repo/a.py", line 5, in main
    look_up({})
  File "/repo/a.py", line 2, in look_up
    return city["name"]
           ~~~~^^^^^^^^
KeyError: 'name'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/repo/a.py", line 8, in <module>
    main()
  File "/repo/a.py", line 7, in main
    raise RuntimeError("no city") from error
RuntimeError: no city
`,
  go: `panic: runtime error: index out of range [3] with length 0

goroutine 1 [running]:
main.lookUp(...)
	/repo/main.go:2
main.main()
	/repo/main.go:3 +0xa
exit status 2
`,
  rust: `
thread 'main' (1) panicked at a.rs:1:36:
index out of bounds: the len is 0 but the index is 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs:689:5
   1: core::panicking::panic_fmt
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/panicking.rs:80:14
   2: core::panicking::panic_bounds_check
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/panicking.rs:271:5
   3: <usize as core::slice::index::SliceIndex<[T]>>::index
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/slice/index.rs:272:10
   4: core::slice::index::<impl core::ops::index::Index<I> for [T]>::index
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/slice/index.rs:19:15
   5: <alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/alloc/src/vec/mod.rs:3804:9
   6: a::look_up
             at ./a.rs:1:36
   7: a::main
             at ./a.rs:2:28
   8: core::ops::function::FnOnce::call_once
             at /rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/core/src/ops/function.rs:250:5
note: Some details are omitted, run with \`RUST_BACKTRACE=full\` for a verbose backtrace.
`,
  java: `Exception in thread "main" java.lang.IllegalStateException: no city
	at com.example.Server.main(Server.java:5)
Caused by: java.lang.NullPointerException: Cannot invoke "String.trim()" because "<parameter1>" is null
	at com.example.Server.lookUp(Server.java:3)
	... 1 more
`,
  dotnet: `Unhandled exception. System.InvalidOperationException: no city
 ---> System.NullReferenceException: Object reference not set to an instance of an object.
   at Example.Server.LookUp(String city) in /repo/src/Server.cs:line 3
   at Example.Program.Main(String[] args) in /repo/src/Program.cs:line 12
`,
};

const first = (text: string) => {
  const [frame] = listFrames(text);
  return frame === undefined ? null : `${frame.path}:${frame.line}`;
};

describe('listFrames', () => {
  it.each([
    ['node', '/repo/a.mjs:1'],
    ['python', '/repo/a.py:7'],
    ['go', '/repo/main.go:2'],
    ['rust', 'a.rs:1'],
    ['java', 'com/example/Server.java:3'],
    ['dotnet', '/repo/src/Server.cs:3'],
  ] as const)('reads the call that failed in a trace of %s', (name, expected) => {
    expect(first(traces[name])).toBe(expected);
    expect(first(JSON.stringify({ text: traces[name] }))).toBe(expected);
  });

  it('reads nothing in prose, in lines that are too long, and in addresses', () => {
    const prose =
      'The error is at home (see https://a.example/x.js:1:2).\nFile "notes.txt", line 4\nat noon in x.md:line 3';
    const long = `    at ${'a'.repeat(2000)} (/repo/a.js:1:1)`;
    expect([prose, long, '    at f (/repo/a.js:0:1)'].flatMap(listFrames)).toEqual([]);
  });

  it('takes time in proportion to the text', () => {
    const text = Array.from({ length: 5000 }, () => `    at ${'('.repeat(400)}/${'a.'.repeat(200)}:1`).join('\n');
    expect(listFrames(text)).toEqual([]);
  });
});

describe('cutTrace', () => {
  it('leaves the message of an error, quoted or not', () => {
    expect(cutTrace(traces.node)).toBe("TypeError: Cannot read properties of undefined (reading 'name')…");
    const quoted = String.raw`"Error: x\n    at f (/home/a/x.js:1:2)\n    at \"g\" (/b.js:1:2)" and not "hi"`;
    expect(cutTrace(quoted)).toBe('"Error: x…" and not "hi"');
    expect(cutTrace('a plain\nreason at home')).toBe('a plain\nreason at home');
  });
});

describe('isFrame', () => {
  it('is true for frames of the runtime as well', () => {
    expect(['    at Socket.emit (node:events:514:28)', '\tat a.B.c(B.java:4)', '  at noon'].map(isFrame)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
