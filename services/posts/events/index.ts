export {
  type Announcement,
  announceCreated,
  announceDeleted,
  announceReanalysis,
  announceSentiments,
  announceUpdated,
  eventTypes,
  expandEvents,
} from './events.ts';
