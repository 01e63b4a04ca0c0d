;;;; graphs.lsp - random graphs of objects; see work-graphs.lsp.

(defpackage :oracle-graphs
  (:use :cl)
  (:export #:run #:end))
(in-package :oracle-graphs)

(defstruct node left right)
(defclass thing () ((a :initform nil :accessor thing-a)
                    (b :initform nil :accessor thing-b)))

(defconstant +roots+ 500)
(defvar *kept* '() "What threads leave.")

(defstruct (graph (:conc-name nil))
  (roots (make-array +roots+ :initial-element nil))
  (weak (make-hash-table :test 'eq :weakness :key))
  (pointers '())
  (chance (make-random-state t)))

(defun chance-of (graph n)
  (random n (chance graph)))

(defun any (graph)
  "Some object that is reachable from GRAPH, or none."
  (let ((object (svref (roots graph) (chance-of graph +roots+))))
    (loop repeat (chance-of graph 4)
          do (setf object (typecase object
                            (cons (if (zerop (chance-of graph 2))
                                      (car object)
                                      (cdr object)))
                            (node (node-left object))
                            (thing (thing-b object))
                            (t object))))
    object))

(defun fresh (graph)
  "A new object that leads to others."
  (let ((a (any graph)) (b (any graph)))
    (ecase (chance-of graph 12)
      ((0 1 2) (cons a b))
      (3 (make-node :left a :right b))
      (4 (let ((thing (make-instance 'thing)))
           (setf (thing-a thing) a (thing-b thing) b)
           thing))
      (5 (make-array (1+ (chance-of graph 20)) :initial-element a))
      (6 (let ((table (make-hash-table)))
           (setf (gethash a table) b)
           table))
      (7 (lambda () (list a b)))
      (8 (make-string (chance-of graph 300)))
      (9 (list 1.5d0 (ash 1 (+ 70 (chance-of graph 500))) a))
      (10 (list a b))
      (11 (let ((object (vector a b)))
            (setf (gethash object (weak graph)) (list (chance-of graph 9)))
            (push (ext:make-weak-pointer object) (pointers graph))
            object)))))

(defun change (graph steps)
  (dotimes (i steps graph)
    (let ((object (fresh graph)))
      (setf (svref (roots graph) (chance-of graph +roots+)) object)
      ;; Now and then whole parts go.
      (when (zerop (chance-of graph 40))
        (fill (roots graph) nil :start (chance-of graph +roots+)))
      (when (zerop (chance-of graph 20000))
        (setf (pointers graph) '())
        (ext:gc t)))))

(defun run ()
  (let ((steps (parse-integer (or (ext:getenv "ORACLE_STEPS") "60000")))
        (graph (make-graph)))
    #+threads
    (let ((threads (loop repeat 3
                         collect (mp:process-run-function
                                  "graph"
                                  (lambda ()
                                    (push (change (make-graph) (floor steps 4))
                                          *kept*))))))
      (push (change graph (floor steps 4)) *kept*)
      (mapc #'mp:process-join threads))
    #-threads
    (push (change graph steps) *kept*)
    (ext:gc t)))

(defun end ()
  "What was built is needed until here."
  (length *kept*))
