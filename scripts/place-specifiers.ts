import path from 'node:path/posix';

/** The imports between the gate and the eval service, in both directions, as in the sources. */
const sourceOfService = /(['"])(?:\.\.\/)+packages\/eval-service\/src\//g;
const sourceOfGate = /(['"])(?:\.\.\/)+src\//g;

/**
 * Rewrites the imports of a file of the eval service, or of the gate's file that loads it, as if the service were the folder `eval-service`
 * next to the folders of the gate. `name` is the new path of the file.
 */
export function placeSpecifiers(name: string, text: string): string {
  const up = path.relative(path.dirname(name), '.');
  return text.replaceAll(sourceOfService, `$1${up}/eval-service/`).replaceAll(sourceOfGate, `$1${up}/`);
}
