from django.db import transaction
from django.db.models import F
from django.http import Http404
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from .models import Choice, Question, Quote, Vote


class QuestionSerializer(serializers.ModelSerializer):
    class Meta:
        model = Question
        fields = ['id', 'question_text', 'pub_date', 'closes_at', 'results', 'duplicates']


class QuestionList(ListAPIView):
    serializer_class = QuestionSerializer

    def get_queryset(self):
        return Question.objects.filter(pub_date__lte=timezone.now()).order_by('id')


class QuoteSerializer(serializers.ModelSerializer):
    category = serializers.CharField(source='category.name')
    like_set = serializers.PrimaryKeyRelatedField(many=True, read_only=True)

    class Meta:
        model = Quote
        fields = ['id', 'text', 'author', 'category', 'source', 'attribution', 'like_set']


class QuoteList(ListAPIView):
    serializer_class = QuoteSerializer
    queryset = Quote.objects.select_related('category').prefetch_related('like_set').order_by('id')


class VoteSerializer(serializers.Serializer):
    choice = serializers.IntegerField()


class VoteView(APIView):
    """Anyone votes: the row and the counter in one transaction."""

    permission_classes = [AllowAny]

    def post(self, request, pk):
        question = get_object_or_404(Question, pk=pk, pub_date__lte=timezone.now())
        body = VoteSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        choice = body.validated_data['choice']
        with transaction.atomic():
            if not Choice.objects.filter(pk=choice, question=question).update(votes=F('votes') + 1):
                raise serializers.ValidationError({'choice': [f'Invalid pk "{choice}" - object does not exist.']})
            Vote.objects.create(choice_id=choice)
        choices, _ = tally(question)
        correct = next((each.pk == choice for each in choices if each.is_correct), None)
        results = [
            {'choice': each.pk, 'choice_text': each.choice_text, 'votes': each.votes, 'percent': each.percent}
            for each in choices
        ]
        return Response({'question': question.pk, 'choice': choice, 'correct': correct, 'results': results})


def tally(question):
    """The choices with their share of the votes, and the sum of these."""
    choices = list(question.choice_set.order_by('id'))
    total = sum(choice.votes for choice in choices)
    for choice in choices:
        choice.percent = round(100 * choice.votes / total, 1) if total else 0
    return choices, total


def results(request, pk):
    question = Question.objects.filter(pk=pk, pub_date__lte=timezone.now()).first()
    if question is None:
        raise Http404
    choices, total = tally(question)
    return render(request, 'polls/results.html', {'question': question, 'choices': choices, 'total': total})
