/** How a field is written as a flag: `serverId` is `--server-id`. */
export function nameFlag(field: string): string {
  return `--${field.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
