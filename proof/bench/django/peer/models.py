from django.conf import settings
from django.db import models


class Question(models.Model):
    question_text = models.CharField(max_length=200)
    pub_date = models.DateTimeField(db_index=True)
    closes_at = models.DateTimeField(null=True)
    results = models.CharField(max_length=20, default='always')
    duplicates = models.CharField(max_length=20, default='none')


class Choice(models.Model):
    question = models.ForeignKey(Question, on_delete=models.CASCADE)
    choice_text = models.CharField(max_length=200)
    is_correct = models.BooleanField(default=False)
    votes = models.BigIntegerField(default=0)


class Vote(models.Model):
    choice = models.ForeignKey(Choice, on_delete=models.CASCADE)
    created_at = models.DateTimeField(auto_now_add=True)


class Category(models.Model):
    name = models.CharField(max_length=100, unique=True)


class Quote(models.Model):
    text = models.TextField()
    author = models.CharField(max_length=255, db_index=True)
    category = models.ForeignKey(Category, on_delete=models.CASCADE)
    source = models.CharField(max_length=500)
    attribution = models.CharField(max_length=20)


class Like(models.Model):
    quote = models.ForeignKey(Quote, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)

    class Meta:
        unique_together = [('quote', 'user')]
