// The address of a server as a URL.

/** Returns the URL of a host, by name or IP, and a port; an IPv6 address stands in brackets. */
export function formatHttpAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
