from django.urls import path

from peer import views

urlpatterns = [
    path('api/questions/', views.QuestionList.as_view()),
    path('api/questions/<int:pk>/vote/', views.VoteView.as_view()),
    path('api/quotes/', views.QuoteList.as_view()),
    path('polls/<int:pk>/results/', views.results),
]
