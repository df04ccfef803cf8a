"""Creates the tables and loads what standard input says: the same questions, choices, quotes and likes as the service has."""
import json
import sys

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from peer.models import Category, Choice, Like, Question, Quote  # noqa: E402

call_command('migrate', verbosity=0)
call_command('migrate', run_syncdb=True, verbosity=0)
given = json.load(sys.stdin)


def known(model, row):
    """The fields of a row that the model has: the service may have more than the peer."""
    names = {field.attname for field in model._meta.fields}
    return model(**{name: value for name, value in row.items() if name in names})


Question.objects.bulk_create(known(Question, question) for question in given['questions'])
Choice.objects.bulk_create(known(Choice, {**choice, 'question_id': choice['question']}) for choice in given['choices'])
readers = max((len(quote['like_set']) for quote in given['quotes']), default=0)
users = User.objects.bulk_create(User(username=f'reader{number}') for number in range(readers))
for quote in given['quotes']:
    likes = quote.pop('like_set')
    category, _ = Category.objects.get_or_create(name=quote.pop('category'))
    known(Quote, {**quote, 'category_id': category.pk}).save(force_insert=True)
    Like.objects.bulk_create(Like(quote_id=quote['id'], user=user) for user in users[: len(likes)])
