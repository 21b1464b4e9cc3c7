/** Whether a URL's hostname is this machine. URL parsing has already written every spelling of an IPv4 address in full. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
