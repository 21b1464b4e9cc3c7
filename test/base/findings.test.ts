import { describe, expect, it } from 'vitest';
import { ConfigurationError, NetworkError } from '../../src/base/errors.ts';
import { createFindings } from '../../src/base/findings.ts';

const issue = (code: string) => ({ input: 'policy', code, message: `is ${code}` });

describe('findings', () => {
  it('keep issues, notes and remarks apart, each in the order of their arrival', () => {
    const findings = createFindings();
    findings.note('First.');
    findings.add(issue('one'));
    findings.remark('For the log.');
    findings.addAll([issue('two'), issue('three')]);
    findings.noteAll(['Second.', 'Third.']);
    expect(findings.issues.map(({ code }) => code)).toEqual(['one', 'two', 'three']);
    expect(findings.notes).toEqual(['First.', 'Second.', 'Third.']);
    expect(findings.remarks).toEqual(['For the log.']);
  });

  it('turn a configuration error into its issues, thrown or rejected', async () => {
    const findings = createFindings();
    const fail = (code: string): number => {
      throw new ConfigurationError([issue(code), issue(`${code}-too`)]);
    };
    expect(findings.attempt(() => 1)).toBe(1);
    expect(findings.attempt(() => fail('thrown'))).toBeUndefined();
    expect(await Promise.reject(new ConfigurationError([issue('rejected')])).catch(findings.absorb)).toBeUndefined();
    expect(findings.issues.map(({ code }) => code)).toEqual(['thrown', 'thrown-too', 'rejected']);
  });

  it('throw every other error on, and keep what they have', () => {
    const findings = createFindings();
    findings.add(issue('one'));
    const error = new NetworkError('It was reset.');
    const fail = () => {
      throw error;
    };
    expect(() => findings.attempt(fail)).toThrow(error);
    expect(findings.issues).toEqual([issue('one')]);
  });

  it('throw all issues at once, and nothing for notes', () => {
    const findings = createFindings();
    findings.note('No mistake.');
    expect(() => findings.throwIfAny()).not.toThrow();
    findings.addAll([issue('one'), issue('two')]);
    expect(() => findings.throwIfAny()).toThrow(new ConfigurationError([issue('one'), issue('two')]));
  });
});
