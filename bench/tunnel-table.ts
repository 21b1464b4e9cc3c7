/** Prints a line of the tunnel's table, with the ratio if there is a yardstick. */
export function printRow(what: string, value: string, ratio: number | null, bar: string): void {
  const shown = ratio === null ? '' : ratio.toFixed(2);
  console.log(`  ${what.padEnd(40)}${value.padEnd(38)}${shown.padStart(6)}   bar ${bar}`);
}

export function formatMiB(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
