export { type ForeignTool, McpServers, parseServers } from './servers.ts';
