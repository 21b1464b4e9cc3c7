import path from 'node:path/posix';

/** From the gate to the eval service, and back, as sources lie. */
const sourceOfService = /(['"])(?:\.\.\/)+packages\/eval-service\/src\//g;
const sourceOfGate = /(['"])(?:\.\.\/)+src\//g;

/**
 * Rewrites the imports of a file of the eval service, or of the gate's file that loads it, as if the service were the folder `eval-service`
 * next to those of the gate. `name` is where the file is then.
 */
export function placeSpecifiers(name: string, text: string): string {
  const up = path.relative(path.dirname(name), '.');
  return text.replaceAll(sourceOfService, `$1${up}/eval-service/`).replaceAll(sourceOfGate, `$1${up}/`);
}
