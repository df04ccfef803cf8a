import { unreadable } from '../errors.ts';
import type { Block, Extracted } from './blocks.ts';

const depthMax = 100;

/** Extracts each object of a list by itself, with the names of its values. */
export function extractJson(text: string): Extracted {
  return { blocks: blocksOf(parsed(text, 'The file')) };
}

export function extractJsonLines(text: string): Extracted {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { blocks: lines.flatMap((line, index) => blocksOf(parsed(line, `Line ${index + 1}`))) };
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''), asWritten);
  } catch (cause) {
    throw unreadable(`${what} is not valid JSON.`, cause);
  }
}

/** Numbers as they are written, since those of JavaScript have fewer digits. */
function asWritten(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? context?.source : value;
}

function blocksOf(value: unknown): Block[] {
  if (Array.isArray(value)) return value.flatMap(blocksOf);
  if (typeof value === 'object' && value !== null && Object.values(value).some(isObject)) {
    const own = Object.entries(value).filter(([, each]) => !isObject(each));
    const nested = Object.entries(value).filter(([, each]) => isObject(each));
    const blocks = own.length > 0 ? [{ text: described(Object.fromEntries(own), 0) }] : [];
    return [...blocks, ...nested.flatMap(([name, each]) => namedBlocks(name, each))];
  }
  return [{ text: described(value, 0) }];
}

/** A value below its name. The objects of a list stand each by itself, with the name as their heading. */
function namedBlocks(name: string, value: unknown): Block[] {
  const isList = Array.isArray(value) && value.length > 1 && value.every(isObject);
  return isList
    ? [{ text: name, level: 3 }, ...blocksOf(value)]
    : [{ text: `${name}: ${described(value, 0)}` }];
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function described(value: unknown, depth: number): string {
  if (depth > depthMax) throw unreadable('The file is nested too deeply.');
  if (Array.isArray(value)) return value.map((each) => described(each, depth + 1)).join(', ');
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  const entries = Object.entries(value).map(([name, each]) => `${name}: ${described(each, depth + 1)}`);
  return entries.join('; ');
}
