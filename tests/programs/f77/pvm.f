C     A task of PVM that is started by hand.
      program pvmtid
      integer tid, info
      call pvmfmytid(tid)
      if (tid .lt. 0) stop 1
      print '(a)', 'a task'
      call pvmfexit(info)
      end
