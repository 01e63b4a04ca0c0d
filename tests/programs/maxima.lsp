;;;; maxima.lsp - a real program to profile: algebra with Maxima.
;;;;
;;;; Usage: ecl --mprof maxima.lsp [maxima.fas [rounds]]
;;;;
;;;; Loads the compiled Maxima that Debian's package maxima-sage installs, sets
;;;; it up without its read-eval-print loop, and prints what Maxima computes.

(defpackage :maxima-demo
  (:use :cl)
  (:export #:main))
(in-package :maxima-demo)

(defparameter *fas* "/usr/lib/ecl/maxima.fas")

(defparameter *problems*
  '("factor(x^60-1)"
    "expand((x+y+z)^14)"
    "factor(expand((x^3+2*y-1)^5*(x-y^2)^3))"
    "diff(sin(x^2)*exp(-x)/(1+log(x)),x,4)"
    "integrate(x^3/(x^4+x^2+1),x)"
    "determinant(genmatrix(lambda([i,j],1/(i+j+x)),6,6))"
    "200!")
  "Inputs for Maxima, without the closing semicolon.")

(defun maxima-function (name)
  "The function called NAME in Maxima, whose package exists after the load."
  (fdefinition (intern name :maxima)))

(defun load-maxima (fas)
  "Load Maxima from the file FAS and give its variables their first values."
  (unless (probe-file fas)
    (error "~a does not exist; install Debian's package maxima-sage" fas))
  (let ((*load-verbose* nil))
    (load fas))
  (funcall (maxima-function "INITIALIZE-RUNTIME-GLOBALS")))

(defun parse (input)
  "The Maxima expression that the string INPUT denotes."
  (with-input-from-string (stream (concatenate 'string input ";"))
    (third (funcall (maxima-function "MREAD") stream))))

(defun evaluate (input)
  "Maxima's answer to the string INPUT, as a string."
  (let ((*package* (find-package :maxima)))
    (coerce (funcall (maxima-function "MSTRING")
                     (funcall (maxima-function "MEVAL") (parse input)))
            'string)))

(defun shorten (string)
  "STRING, or its beginning and its length when it is long."
  (if (> (length string) 60)
      (format nil "~a... (~d characters)" (subseq string 0 60) (length string))
      string))

(defun main (&optional (fas *fas*) (rounds 5))
  "Compute every problem ROUNDS times and print each answer once."
  (load-maxima fas)
  (dolist (input *problems*)
    (let (answer)
      (loop repeat rounds
            do (setf answer (evaluate input)))
      (format t "~a = ~a~%" input (shorten answer)))))

(destructuring-bind (&optional (fas *fas*) (rounds "5") &rest ignored)
    (rest ext:*unprocessed-ecl-command-args*)
  (declare (ignore ignored))
  (main fas (parse-integer rounds)))
