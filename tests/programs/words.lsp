;;;; words.lsp - count words: the Lisp program of ci-sample.sh, which has a budget.

(defpackage :words
  (:use :cl))
(in-package :words)

(defvar *text* "of all the words that there are these are the ones that there
are here and none of all those that are not")

(defun blank-p (character)
  (member character '(#\Space #\Newline)))

(defun next-word (text start)
  "The end of the word that begins at START."
  (or (position-if #'blank-p text :start start) (length text)))

(defun intern-word (text start end words)
  "The string in WORDS that is TEXT from START to END, if there is one."
  (find-if (lambda (word)
             (and (= (length word) (- end start))
                  (string= word text :start2 start :end2 end)))
           words))

(defun add-word (text start end)
  (subseq text start end))

(defun count-text (text)
  "How many different words TEXT has."
  (let ((words '()))
    (do ((start 0 (1+ (next-word text start))))
        ((>= start (length text)) (length words))
      (let ((end (next-word text start)))
        (unless (intern-word text start end words)
          (push (add-word text start end) words))))))

(dotimes (i 50)
  (count-text *text*))
