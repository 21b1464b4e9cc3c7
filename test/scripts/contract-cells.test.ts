import { describe, expect, it } from 'vitest';
import {
  judgeContract,
  readContractTest,
  renderCells,
  summarizeCells,
  type ContractTest,
} from '../../scripts/contract-cells.ts';

const operations = [{ name: 'getThing', status: 200 as const, errors: [404] }];
const test = (status: number, way: 'client' | 'http', when = 'it is there'): ContractTest => ({
  operation: 'getThing',
  status,
  when,
  way,
  file: 'things.test.ts',
});
const found = [test(200, 'client'), test(200, 'http')];
const notFound = [test(404, 'client', 'no such thing'), test(404, 'http', 'no such thing')];
const none = { impossible: [], httpOnly: [] };
const at404 = { operation: 'getThing', status: 404 };

describe('readContractTest', () => {
  it('reads operation, status, condition and way', () => {
    expect(readContractTest('getThing answers 200: it is there (http)', 'things.test.ts')).toEqual(test(200, 'http'));
  });

  it.each([
    'getThing answers 200: it is there',
    'getThing answers 200: it is there ($way)',
    '$name answers 200: it is there (http)',
    'answers 200 (http)',
  ])('ignores other titles: %s', (title) => {
    expect(readContractTest(title, 'things.test.ts')).toBeUndefined();
  });
});

describe('judgeContract', () => {
  it('accepts an answer with a test that asks both ways', () => {
    const { cells, problems } = judgeContract(operations, [...found, ...notFound], none);
    expect(problems).toEqual([]);
    expect(renderCells(cells)).toEqual([
      ['`getThing`', '200', 'it is there', 'things.test.ts', 'client, http'],
      ['`getThing`', '404', 'no such thing', 'things.test.ts', 'client, http'],
    ]);
    expect(summarizeCells(cells)).toBe(
      'Of 2 answers, 2 (100.0 %) are tested, 0 (0.0 %) cannot occur and 0 (0.0 %) have no test.',
    );
  });

  it.each([
    ['no test', []],
    ['a test that asks one way', [test(404, 'http')]],
    ['two tests that ask one way each', [test(404, 'http'), test(404, 'client', 'it was deleted')]],
  ])('reports an answer with %s', (_, tests) => {
    const { cells, problems } = judgeContract(operations, [...found, ...tests], none);
    expect(problems).toEqual(['No test is named "getThing answers 404: … (client)", and one "… (http)".']);
    expect(renderCells(cells)[1]).toEqual(['`getThing`', '404', '**no test**', '', '']);
  });

  it('accepts HTTP alone for what only HTTP can ask', () => {
    const tests = [...found, test(404, 'http', 'a strange header')];
    expect(judgeContract(operations, tests, { ...none, httpOnly: ['a strange header'] }).problems).toEqual([]);
    expect(judgeContract(operations, tests, { ...none, httpOnly: ['another'] }).problems).toHaveLength(1);
  });

  it('accepts one impossible answer in ten, until it has a test', () => {
    const many = [{ name: 'getThing', status: 200 as const, errors: [400, 401, 403, 404, 409, 422, 429, 500, 502] }];
    const tests = [200, 400, 401, 403, 409, 422, 429, 500].flatMap((status) => [
      test(status, 'client'),
      test(status, 'http'),
    ]);
    const tested502 = [test(502, 'client'), test(502, 'http')];
    const impossible = [{ ...at404, reason: 'it is always there' }];
    expect(judgeContract(many, [...tests, ...tested502], { ...none, impossible }).problems).toEqual([]);
    expect(judgeContract(many, [...tests, ...tested502, ...notFound], { ...none, impossible }).problems).toEqual([
      'getThing 404 is tested or not in the API. Remove it from the impossible cells.',
    ]);
    const two = [...impossible, { operation: 'getThing', status: 502, reason: 'it asks nothing' }];
    expect(judgeContract(many, tests, { ...none, impossible: two }).problems).toEqual([
      '2 of 10 cells are listed as impossible, more than 10 %.',
    ]);
  });

  it('reports a test of an operation that the API does not have', () => {
    const stray = { ...test(200, 'http'), operation: 'getThings' };
    expect(judgeContract(operations, [...found, ...notFound, stray], none).problems).toEqual([
      'things.test.ts: no operation is named getThings.',
    ]);
  });
});
