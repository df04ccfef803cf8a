export { parseServers } from './addresses.ts';
export { type ForeignTool, McpServers } from './servers.ts';
