export {
  type Announcement,
  announceCreated,
  announceDeleted,
  announceReanalysis,
  announceRestored,
  announceSentiments,
  announceUpdated,
  eventTypes,
  expandEvents,
} from './events.ts';
