/**
 * Ends several resources together, the last one first, as `AsyncDisposableStack` does. Node.js 22 has no such class: the compiler
 * rewrites `using` for it, but it cannot supply a missing global.
 */
export class Disposer implements AsyncDisposable {
  #endings: Array<() => unknown> = [];

  /** Ends `resource` together with the others, and returns it. Null needs no end. */
  use<Resource extends Disposable | AsyncDisposable | null>(resource: Resource): Resource {
    if (resource === null) return resource;
    this.#endings.push(() =>
      Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose](),
    );
    return resource;
  }

  /** Calls `end` when the others end. */
  defer(end: () => unknown): void {
    this.#endings.push(end);
  }

  /** Moves all resources to a new disposer. This one then ends nothing. */
  move(): Disposer {
    const moved = new Disposer();
    moved.#endings = this.#endings;
    this.#endings = [];
    return moved;
  }

  /** Ends every resource, even if one of them fails. @throws the error of the one that failed, or an `AggregateError` if several failed */
  async [Symbol.asyncDispose](): Promise<void> {
    const endings = this.#endings.toReversed();
    this.#endings = [];
    const errors: unknown[] = [];
    for (const end of endings) {
      try {
        await end();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, 'Several resources could not be closed.');
    for (const error of errors) throw error;
  }
}
