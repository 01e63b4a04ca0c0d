;;;; names.lsp - one function of each kind; oracle/names-run.lsp calls them.
;;;;
;;;; Every function conses a number of its own, so that each is known by its
;;;; count; CONS is part of the function that calls it, both in bytecodes and
;;;; in C.  NOTHING keeps the C compiler from turning calls into jumps.

(defpackage :zoo
  (:use :cl)
  (:export #:tree-sum #:run))
(in-package :zoo)

(declaim (notinline helper twin counter (setf foo) make-adder))

(defvar *sink* nil)

(defmacro conses (n)
  "Cons N times, without a variable that would be consed too."
  `(progn ,@(loop repeat n collect '(setq *sink* (cons 1 2)))))

(defun nothing () nil)

(defun helper () (conses 3) (nothing))

;; It keeps the name that it was made with.
(setf (fdefinition 'also-helper) #'helper)

(let ((calls '()))
  (defun counter ()
    (setq calls (cons 1 calls))
    (conses 4)
    (nothing)))

(defun make-adder ()
  (let ((sum '()))
    (lambda () (setq sum (cons 1 sum)) (conses 5) (nothing))))

(defun tree-sum ()
  (declare (notinline mapc))
  (labels ((walk () (conses 7) (nothing))
           (down () (conses 2) (walk) (nothing)))
    (declare (notinline walk down))
    (flet ((twice () (down) (down) (conses 1) (nothing)))
      (declare (notinline twice))
      (twice)
      (mapc (lambda (x) (conses 6) (walk) x) '(1 2))
      (nothing))))

(defmacro expanded ()
  (conses 8)
  ''expansion)

(defclass circle () ((radius :initarg :radius :accessor radius)))
(defclass sq (circle) ())
(defgeneric area (shape))
(defgeneric (setf area) (new shape))
(defgeneric named (name))
(defmethod area ((shape circle)) (conses 9) (nothing))
(defmethod area :around ((shape sq)) (conses 10) (call-next-method) (nothing))
(defmethod area :before ((shape circle)) (conses 11) (nothing))
(defmethod (setf area) (new (shape circle)) (conses 12) new)
(defmethod named ((name (eql :three))) (conses 13) (nothing))
(defmethod named ((name symbol)) (conses 14) (nothing))

(defun (setf foo) (new) (conses 15) new)

(defun redefined () (conses 16) (nothing))

(defstruct (point (:constructor make-point (x y))) x y)

(let ((f (lambda () (conses 17) (nothing))))
  (defun top-lambda () (funcall f) (nothing)))

(defun in-handler ()
  (handler-case (error "x")
    (error () (conses 18) (nothing))))

(defun outer ()
  (flet ((middle ()
           (let ((inner (lambda () (conses 19) (nothing))))
             (funcall inner)
             (nothing))))
    (declare (notinline middle))
    (middle)
    (nothing)))

(defun twin () (conses 20) (nothing))

(defun many (&optional a &key b)
  (declare (ignore a b))
  (conses 21)
  (nothing))

(defun |Mixed Case| () (conses 22) (nothing))

(defun |z| () (conses 28) (nothing))

(defun |Back\\slash| () (conses 30) (nothing))

(defun make-one-of-two ()
  "Closures of one code, which have two names."
  (let ((sum '()))
    (lambda () (setq sum (cons 1 sum)) (conses 29) (nothing))))

(setf (fdefinition 'one-name) (make-one-of-two)
      (fdefinition 'other-name) (make-one-of-two))

;; Two functions that have one name in C, each with a local function, and
;; another one, which is not the body of its entry.
(defun same-name (&optional a)
  (declare (ignore a))
  (flet ((early () (conses 36) (nothing)))
    (declare (notinline early))
    (early)
    (nothing)))

(defun same_name (&optional a)
  (declare (ignore a))
  (flet ((late () (conses 37) (nothing)))
    (declare (notinline late))
    (late)
    (nothing)))

(defgeneric shared (shape))
(defun share-method (&rest classes)
  "One function is the method of all CLASSES: it has no method's name."
  (let ((function (lambda (arguments next)
                    (declare (ignore arguments next))
                    (conses 38)
                    (nothing))))
    (dolist (class classes)
      (add-method #'shared
                  (make-instance 'standard-method
                                 :lambda-list '(shape)
                                 :qualifiers '()
                                 :specializers (list (find-class class))
                                 :function function)))))
(share-method 'symbol 'number)

(defgeneric below (shape))
(defmethod below ((shape circle))
  (flet ((deeper () (conses 39) (nothing)))
    (declare (notinline deeper))
    (deeper)
    (nothing)))

(defun c-functions ()
  "Functions of Common Lisp that ECL has in C."
  (declare (notinline mapcar make-array make-hash-table subseq))
  (mapcar #'identity '(1 2 3))
  (apply #'list '(1 2))
  (make-array 3)
  (subseq "string" 2)
  (setf (gethash 1 (make-hash-table)) 2)
  (nothing))

(defun bignums (x)
  (setq *sink* (* x x))
  (nothing))

(defun run ()
  (helper)
  (counter)
  (funcall (make-adder))
  (tree-sum)
  (area (make-instance 'circle))
  (area (make-instance 'sq))
  (setf (area (make-instance 'circle)) 3)
  (named :three)
  (named :four)
  (setf (foo) 3)
  (redefined)
  (setf (radius (make-instance 'circle)) (point-x (make-point 1 2)))
  (top-lambda)
  (in-handler)
  (outer)
  (twin)
  (many 1 :b 2)
  (|Mixed Case|)
  (|z|)
  (|Back\\slash|)
  (same-name)
  (same_name)
  (shared 'symbol)
  (shared 1)
  (one-name)
  (other-name)
  (below (make-instance 'circle))
  (nothing))
