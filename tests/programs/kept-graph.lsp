;;;; kept-graph.lsp - vectors that point to each other at random, and eight variables that
;;;; lead to them: what only one variable leads to, as KEPT-BY has it and as a search
;;;; without that variable finds it.  Prints the differences, then "compared" and how many.

(defpackage "GRAPH" (:use "COMMON-LISP"))
(in-package "GRAPH")

(defconstant +count+ 1000000)
(defconstant +first+ 100)
(defvar *a*) (defvar *b*) (defvar *c*) (defvar *d*)
(defparameter *roots* '(*a* *b* *c* *d*))

(defun plan ()
  "Random edges, 0 for none, and the nodes that each variable leads to."
  (let* ((part (floor +count+ (length *roots*)))
         (edges (make-array (* 3 +count+) :element-type '(unsigned-byte 32)
                                          :initial-element 0)))
    (dotimes (i (length edges))
      (let ((start (* part (floor (floor i 3) part))))
        (when (zerop (random 3))
          (setf (aref edges i) (1+ (if (zerop (random 5000))
                                       (random +count+)
                                       (+ start (random part))))))))
    (values edges
            (loop for r below (length *roots*)
                  collect (loop repeat +first+ collect (+ (* r part) (random part)))))))

(defun reached (edges starts without)
  "How many nodes are reached without the variable WITHOUT."
  (let ((seen (make-array +count+ :element-type 'bit :initial-element 0))
        (queue '())
        (count 0))
    (flet ((reach (node)
             (when (zerop (aref seen node))
               (setf (aref seen node) 1)
               (incf count)
               (push node queue))))
      (loop for list in starts for r from 0
            unless (eql r without) do (mapc #'reach list))
      (loop while queue
            do (let ((node (pop queue)))
                 (dotimes (k 3)
                   (let ((to (aref edges (+ k (* 3 node)))))
                     (unless (zerop to) (reach (1- to))))))))
    count))

(defun build (edges starts)
  (let ((nodes (make-array +count+)))
    (dotimes (i +count+) (setf (aref nodes i) (make-array 3 :initial-element nil)))
    (dotimes (i +count+)
      (dotimes (k 3)
        (let ((to (aref edges (+ k (* 3 i)))))
          (unless (zerop to)
            (setf (aref (aref nodes i) k) (aref nodes (1- to)))))))
    (loop for name in *roots* for list in starts
          do (set name (map 'vector (lambda (i) (aref nodes i)) list)))
    (fill nodes nil)))

(mapc #'compile '(plan reached build))

(defun compare ()
  (multiple-value-bind (edges starts) (plan)
    (build edges starts)
    (let ((all (reached edges starts nil))
          (keepers (mprof::all-keepers)))
      (loop for name in *roots* for r from 0
            for only = (- all (reached edges starts r))
            for keeper = (find (format nil "the value of GRAPH::~A" name) keepers
                               :key #'mprof::keeper-name :test #'string=)
            ;; A vector is two blocks.
            unless (and keeper (= (mprof::keeper-objects keeper) (* 2 (1+ only))))
              do (format t "~%~A: ~A vectors, ~A objects~%" name (1+ only)
                         (and keeper (mprof::keeper-objects keeper)))
            do (set name nil)))))

(dotimes (i 3) (compare))
(format t "~%compared ~D~%" (* 3 (length *roots*)))
