/** Returns the flag of a field: `serverId` becomes `--server-id`. */
export function nameFlag(field: string): string {
  return `--${field.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
