/**
 * The client under test for the conformance suite: it passes its scenario to the process at the first argument, which runs the product's client,
 * and exits with that result. So the sources are loaded only once for all scenarios.
 */
const [driver = '', serverUrl = ''] = process.argv.slice(2);
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}';
const response = await fetch(driver, { method: 'POST', body: JSON.stringify({ scenario, context, serverUrl }) });
console.error(await response.text());
process.exitCode = response.ok ? 0 : 1;
