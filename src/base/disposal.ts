/**
 * Things that end together, the last one first, as `AsyncDisposableStack` has it. Node.js 22 has no such class: the compiler writes out
 * `using` for it, and cannot write out a global.
 */
export class Disposer implements AsyncDisposable {
  #endings: Array<() => unknown> = [];

  /** Ends `resource` with the others, and gives it back; null is nothing to end. */
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

  /** Hands everything over to another one; this one then ends nothing any more. */
  move(): Disposer {
    const moved = new Disposer();
    moved.#endings = this.#endings;
    this.#endings = [];
    return moved;
  }

  /** Ends everything, also where one of them fails. @throws what failed, or an `AggregateError` where several did */
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
