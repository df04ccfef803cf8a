import { type Clock, type Environment, inspectConfig, systemClock } from '@octavo/core';
import { upNames } from '../../index.ts';
import { suiteSettings } from '../../suite-settings.ts';
import { checkEngines } from './engines.ts';
import type { Examined, Finding } from './finding.ts';
import { checkFolder, checkPorts, checkProcess } from './machine.ts';
import { checkModels } from './models.ts';
import { checkAddresses, checkNames, checkSecrets, checkValues } from './settings.ts';

/** Prints a line for each finding, with the fix of each problem. The exit code is 1 if there are problems. */
export async function run(names: string[]): Promise<number> {
  const findings = await diagnose({ names, environment: process.env, folder: process.cwd() });
  for (const { subject, text, fix } of findings) {
    process.stdout.write(`${fix ? 'FAIL' : 'ok  '}  ${subject.padEnd(21)} ${text}\n`);
    if (fix) process.stdout.write(`${' '.repeat(28)}fix: ${fix}\n`);
  }
  const wrong = findings.filter(({ fix }) => fix).length;
  process.stdout.write(wrong === 0 ? '\nNothing is wrong.\n' : `\nWrong: ${wrong}\n`);
  return wrong === 0 ? 0 : 1;
}

/** Examines this machine for the named services, or for those of `octavo up`. */
export async function diagnose(options: {
  readonly names?: readonly string[];
  readonly environment: Environment;
  readonly folder: string;
  readonly clock?: Clock;
}): Promise<Finding[]> {
  const { names = [], environment, clock = systemClock } = options;
  const chosen = names.length > 0 ? names : upNames();
  const { config: suite, problems } = inspectConfig(suiteSettings, environment);
  const examined: Examined = { ...options, names: chosen, suite, clock };
  const settings = [...(await checkValues(examined)), ...(await checkNames(examined))];
  const findings = [...checkProcess(), ...settings, ...checkSecrets(examined)];
  // They say where the folder and the ports are.
  if (Object.keys(problems).length > 0) return findings;
  const folder = await checkFolder(examined);
  findings.push(...folder, ...(await checkPorts(examined)), ...(await checkAddresses(examined)));
  const canOpen = [...settings, ...folder].every(({ fix }) => !fix);
  if (canOpen) findings.push(...(await checkEngines(examined)), ...(await checkModels(examined)));
  return findings;
}
