;;;; rewrite.lsp - a small rewriting system: derivatives and their simplification.

(in-package :bench)

(defparameter *rules*
  '(((d ?x ?x) 1)
    ((d (sum ?a ?b) ?x) (sum (d ?a ?x) (d ?b ?x)))
    ((d (mul ?a ?b) ?x) (sum (mul ?a (d ?b ?x)) (mul (d ?a ?x) ?b)))
    ((d (power ?a ?b) ?x) (mul (d ?a ?x) (mul ?b (power ?a (less ?b)))))
    ((d (sine ?a) ?x) (mul (d ?a ?x) (cosine ?a)))
    ((d (cosine ?a) ?x) (mul (d ?a ?x) (minus (sine ?a))))
    ((d (minus ?a) ?x) (minus (d ?a ?x)))
    ((d y ?x) 0)
    ((less 3) 2)
    ((less 2) 1)
    ((sum 0 ?a) ?a)
    ((sum ?a 0) ?a)
    ((sum (sum ?a ?b) ?c) (sum ?a (sum ?b ?c)))
    ((mul 0 ?a) 0)
    ((mul ?a 0) 0)
    ((mul 1 ?a) ?a)
    ((mul ?a 1) ?a)
    ((mul (minus ?a) ?b) (minus (mul ?a ?b)))
    ((mul ?a (minus ?b)) (minus (mul ?a ?b)))
    ((mul ?a (sum ?b ?c)) (sum (mul ?a ?b) (mul ?a ?c)))
    ((mul (mul ?a ?b) ?c) (mul ?a (mul ?b ?c)))
    ((power ?a 1) ?a)
    ((minus (minus ?a)) ?a))
  "Pairs of a pattern and what it becomes; names with a ? match anything.")

(dolist (rule *rules*)
  (let ((head (caar rule)))
    (unless (member rule (get head 'rules))
      (setf (get head 'rules) (append (get head 'rules) (list rule))))))

(declaim (notinline match fill-in rewrite rewrite-once))

(defun variable-p (thing)
  (and (symbolp thing) (char= #\? (char (symbol-name thing) 0))))

(defun match (pattern term bindings)
  "BINDINGS with what makes PATTERN equal to TERM, or :FAIL."
  (cond ((eq bindings :fail) :fail)
        ((variable-p pattern)
         (let ((known (assoc pattern bindings :test #'eq)))
           (cond ((null known) (acons pattern term bindings))
                 ((equal (cdr known) term) bindings)
                 (t :fail))))
        ((atom pattern) (if (eql pattern term) bindings :fail))
        ((atom term) :fail)
        (t (match (cdr pattern) (cdr term)
             (match (car pattern) (car term) bindings)))))

(defun fill-in (template bindings)
  (cond ((variable-p template) (cdr (assoc template bindings :test #'eq)))
        ((atom template) template)
        (t (cons (fill-in (car template) bindings)
                 (fill-in (cdr template) bindings)))))

(defun rewrite-once (term)
  "TERM by the first rule that fits, and whether there is one."
  (dolist (rule (get (car term) 'rules) (values term nil))
    (let ((bindings (match (first rule) term '())))
      (unless (eq bindings :fail)
        (return (values (fill-in (second rule) bindings) t))))))

(defun rewrite (term)
  "TERM when no rule fits any part of it any more."
  (if (atom term)
      term
      (multiple-value-bind (new changed)
          (rewrite-once (cons (car term) (mapcar #'rewrite (cdr term))))
        (if changed (rewrite new) new))))

(defun size (term)
  (if (atom term) 1 (reduce #'+ (mapcar #'size term))))

(defun rewriting (n)
  (let ((size 0))
    (dotimes (i n size)
      (setf size
            (size (rewrite '(d (d (mul (power (sum x (mul y x)) 3)
                                   (mul (sine (mul x x))
                                        (cosine (sum x (power x 3)))))
                                x)
                             x)))))))
