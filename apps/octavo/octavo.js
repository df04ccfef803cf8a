#!/usr/bin/env -S node --max-semi-space-size=8
// A young generation of half the default size has no measurable cost in speed, and each thread uses 25 MB less under load.
import { launch } from './launch.js';

await launch(import.meta.url);
