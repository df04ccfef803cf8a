
  create table person (
    id bigint generated always as identity primary key, name text not null, boss_id bigint references person (id),
    folded text generated always as (lower(name)) stored, photo bytea, born timestamptz, tags text[], facts jsonb, ratio double precision
  );
  create table audit (id bigserial primary key, what text);
  create function note_person() returns trigger language plpgsql as
    $$ begin insert into audit (what) values (new.name); return new; end $$;
  create trigger person_audit after insert on person for each row execute function note_person();
  insert into person (name) values ('of the migration');
