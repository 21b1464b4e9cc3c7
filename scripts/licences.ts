import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const manifestSchema = z.looseObject({ name: z.string(), version: z.string(), license: z.string().default('unknown') });

/** Renders name, version and licence text of every package in a bundle. `modules` are the paths of its modules. */
export function renderLicences(root: string, modules: readonly string[]): string {
  const directories = new Set(modules.flatMap((name) => findPackageDirectory(name)));
  const sections = [...directories].toSorted().map((directory) => renderPackage(path.join(root, directory)));
  return `${sections.join('\n\n')}\n`;
}

/** Finds the innermost `node_modules/<package>` in a module's name; empty for this project's sources and built-in modules. */
function findPackageDirectory(moduleName: string): string[] {
  const match = /^.*\bnode_modules\/(?:@[^/\s]+\/)?[^/\s|]+/.exec(moduleName);
  const found = match?.[0].replace(/^.*?(?=\bnode_modules\/)/, '');
  return found === undefined ? [] : [found];
}

function renderPackage(directory: string): string {
  const { name, version, license } = manifestSchema.parse(
    JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')),
  );
  const texts = readdirSync(directory)
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .toSorted()
    .map((file) => tidy(readFileSync(path.join(directory, file), 'utf8')));
  return [`## ${name} ${version} (${license})`, ...texts].join('\n\n');
}

/** Removes blanks at the ends of lines, which git reports, and CRLF, which a checkout changes. */
function tidy(text: string): string {
  return text.replaceAll(/[ \t\r]+$/gm, '').trim();
}
