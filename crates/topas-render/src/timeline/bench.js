const fs=require('fs');
const dir=process.argv[2]||'.';
const src=['decode.js','data.js','picture.js'].map(f=>fs.readFileSync(dir+'/'+f,'utf8')).join('\n');
const body=src+`
;(async()=>{
const ROWS=64, CALLS=10000, BLOCKS=3;
let seed=1; const rnd=()=>{seed=(seed*1103515245+12345)&0x7fffffff; return seed/0x7fffffff};
function makeBlock(calls){
  const out=[]; const body=new Uint8Array(calls*14); let p=0; let dur=0;
  for(let i=0;i<calls;i++){
    const routine=[10,20,30][i%3]; const gap=200+Math.floor(rnd()*3000), len=20+Math.floor(rnd()*(i%3==2?6000:200));
    const arg=rnd()<0.5; const gc=gap<256?0:1, lc=len<256?0:1;
    let code=routine|(arg?1024:0)|(gc<<11)|(lc<<13);
    body[p++]=code&255; body[p++]=code>>8; body[p++]=gap&255; if(gc) body[p++]=gap>>8; body[p++]=len&255; if(lc) body[p++]=len>>8;
    if(arg){ body[p++]=5; body[p++]=12; body[p++]=130; body[p++]=3; }
    dur+=gap+len;
  }
  const bytes=new Uint8Array(128+p); const v=new DataView(bytes.buffer);
  for(let i=0;i<8;i++) bytes[i]='topastrc'.charCodeAt(i); v.setUint16(8,1,true); v.setUint16(10,1,true); v.setUint32(16,p,true); v.setUint32(20,calls,true); v.setUint32(36,3,true);
  bytes.set(body.subarray(0,p),128);
  return [bytes,dur*8*0.4];
}
const rows=[]; const all=[]; const facts={sliceCalls:500,leastWait:Number(process.env.LEAST||0),routines:[{10:['MPI_Isend',1],20:['MPI_Irecv',1],30:['MPI_Waitall',1]}],logs:[]};
let end=0; const data=new Map();
const sliceCalls=500;
for(let r=0;r<ROWS;r++){
  const row={place:r,process:{routines:0,tick:0.4},blocks:[],began:0,notes:null,states:[],inside:null}; let t=0, before=0, slice=0;
  const nslices=BLOCKS*Math.ceil(CALLS/sliceCalls); row.sums=new Float64Array((nslices+1)*CLASSES); row.bounds=new Float64Array(nslices+1);
  const nc=[];
  for(let b=0;b<BLOCKS;b++){
    const [bytes,dur]=makeBlock(CALLS);
    const block={number:0,log:0,offset:0,length:bytes.length,calls:CALLS,before,open:t,began:t,ended:t+dur,check:0,row,times:null,used:0,slice,lost:false};
    data.set(block,bytes); row.blocks.push(block); t+=dur; before+=CALLS; slice+=Math.ceil(CALLS/sliceCalls);
  }
  for(let s=1;s<=nslices;s++){ row.bounds[s]=t*s/nslices; for(let i=0;i<CLASSES;i++) row.sums[s*CLASSES+i]=row.sums[(s-1)*CLASSES+i]+(i==2?100000:1000); }
  const notes=Math.floor(before/ (facts.leastWait?50:3)); row.notes={call:new Float64Array(notes),kind:new Uint8Array(notes),wait:new Float64Array(notes),partner:new Uint32Array(notes),moment:new Float64Array(notes)};
  for(let i=0;i<notes;i++){ row.notes.call[i]=i*(facts.leastWait?50:3)+2; row.notes.wait[i]=i%2?1000:0; }
  row.ended=t; end=Math.max(end,t); rows.push(row);
}
const timeline=Object.create(Timeline.prototype); Object.assign(timeline,{facts,rows,lines:null,files:[1],end,kept:0,uses:0});
timeline.bytesOf=async b=>data.get(b);
const columns=1188*1;
let sum=0;
for(let round=0;round<4;round++){
  for(const row of rows) for(const b of row.blocks) b.times=null; timeline.kept=0;
  const t0=performance.now(); await timeline.load(rows.flatMap(r=>r.blocks)); const t1=performance.now();
  const image={data:{buffer:new ArrayBuffer(columns*10*4*1)},width:columns,height:10};
  sum=0; const digest=new Float64Array(CLASSES);
  for(const row of rows){ const shares=new Float64Array(columns*CLASSES); sharesOfCalls(timeline,row,0,end,columns,shares); for(let i=0;i<shares.length;i++) digest[i%CLASSES]+=shares[i]; }
  const t2=performance.now();
  console.log('round',round,'calls',ROWS*CALLS*BLOCKS,'load',(t1-t0).toFixed(0),'draw',(t2-t1).toFixed(0),'digest',[...digest].map(x=>(x/1e6).toFixed(3)).join(' '));
}
})();`;
eval(body);
