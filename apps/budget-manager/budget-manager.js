#!/usr/bin/env node
import { launch } from '../octavo/launch.js';

await launch(import.meta.url);
