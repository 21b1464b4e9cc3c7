/**
 * Prints `N passed, N failed` from vitest's JSON report, and exits with 1 if anything failed.
 * Usage: count-results.ts <report> <exit code of the tests> <failed checks>
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.unknown()) })),
});

const [reportPath = '', testsExit = '', failedChecks = ''] = process.argv.slice(2);
const { passed, failed } = countResults(readReport(reportPath), Number(testsExit));
const totalFailed = failed + Number(failedChecks);
console.log(`${passed} passed, ${totalFailed} failed`);
process.exitCode = totalFailed === 0 ? 0 : 1;

function readReport(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // Vitest stopped before it wrote a report.
    return null;
  }
}

function countResults(report: unknown, exitCode: number): { passed: number; failed: number } {
  const parsed = reportSchema.safeParse(report);
  if (!parsed.success) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, testResults } = parsed.data;
  // A file that could not be loaded has no tests that could fail.
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  const failed = numFailedTests + brokenFiles.length;
  // Errors outside of tests fail the run without a failed test.
  return { passed: numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}
