"""What the short words of names stand for: an abbreviation by the list, else the common word that its letters are cut from.

Data and pure functions of one folded word. A short word with several good meanings keeps the first as its label and offers the
others; one that could be cut from several words and is in no list stays as it is.
"""

from __future__ import annotations

from functools import lru_cache

from lexsi_ds.knowledge.name_words import COMMON

_LIST = """
    op=operating consult=consultation emp=employee cust=customer acct=account acc=account amt=amount qty=quantity
    qnty=quantity num=number nbr=number no=number nr=number avg=average dt=date yr=year mgr=manager mngr=manager
    curr=current dept=department addr=address adr=address desc=description dscr=description prod=product|production
    cat=category catg=category pct=percent perc=percent trans=transaction txn=transaction trx=transaction tx=transaction
    disp=disposition lat=latitude ord=order inv=invoice|inventory temp=temperature bal=balance pmt=payment pymt=payment
    mth=month mnth=month tel=telephone ph=phone cnt=count cd=code wk=week usr=user org=organization mfr=manufacturer
    mfg=manufacturing ctry=country cntry=country descr=description max=maximum min=minimum std=standard grp=group
    loc=location lng=longitude lon=longitude tot=total sal=salary|sales prc=price rgn=region reg=registration|region
    disc=discount nm=name typ=type lvl=level lang=language gndr=gender mbr=member trn=training bkg=booking flg=flag
    ind=indicator qtr=quarter hr=hour sec=second ref=reference req=request rcvd=received shp=ship shpmt=shipment
    dlvr=delivery dlv=delivery whse=warehouse wh=warehouse wt=weight wgt=weight ht=height hgt=height len=length
    dur=duration dist=distance spd=speed cap=capacity pop=population occ=occupation|occupancy pos=position prof=profession
    qual=quality spec=specialty sect=section div=division comp=company|competition co=company corp=corporation mkt=market
    sup=supplier supp=supplier vend=vendor cert=certificate lic=licence attr=attribute auth=author cur=currency
    ccy=currency exch=exchange bldg=building apt=airport st=street str=street rev=revenue exp=experience|expense|expiry
    est=estimated pay=payment|pay prev=previous crt=created upd=updated mod=modified del=deleted stat=status sts=status
    img=image attn=attention tech=technician rtn=return ret=return refd=refund dob=birth_date pur=purchase purch=purchase
    proc=process proj=project prj=project mat=material matl=material med=medication pat=patient pt=patient diag=diagnosis
    adm=admission admit=admission dis=discharge vis=visit appt=appointment doc=doctor|document phys=physician stu=student
    stud=student tch=teacher crs=course sch=school enr=enrolment att=attendance sem=semester yrs=years mths=months
    wks=weeks hrs=hours mins=minutes secs=seconds pmts=payments fname=first_name lname=last_name pclass=passenger_class
    sqft=square_feet int=interest prem=premium ded=deductible pol=policy clm=claim agt=agent ben=benefit cov=coverage
    mktg=marketing cmpgn=campaign camp=campaign conv=conversion imp=impression veh=vehicle drv=driver lcn=licence
    mfd=manufactured util=utilization sched=schedule arr=arrival dep=departure dest=destination orig=origin flt=flight
    psgr=passenger pax=passengers rm=room resv=reservation gst=guest rtg=rating rvw=review cmt=comment msg=message
    subj=subject lst=last frst=first mid=middle bday=birthday brth=birth ann=annual mthly=monthly bkgs=bookings mo=month
    mos=months desg=designation desig=designation vol=volume freq=frequency svc=service srv=service pwr=power
    cons=consumption manuf=manufacturer cpty=capacity expt=export stk=stock wrk=work stn=station elec=electric|electronic
    acft=aircraft arpt=airport elev=elevation tm=time natl=national
"""
_KNOWN = {short: tuple(meant.split("|")) for short, meant in (pair.split("=") for pair in _LIST.split())}
"""Abbreviations that are written so often that nothing else is meant; the first meaning is what a column is called."""
_VOWELS = frozenset("aeiou")


@lru_cache(maxsize=20_000)
def meanings(word: str) -> tuple[str, ...]:
    """What a short word of a name stands for, the likeliest first; empty when it is a word itself or nothing is known."""
    if word in _KNOWN:
        return tuple(m.replace("_", " ") for m in _KNOWN[word])
    if word in COMMON or not 3 <= len(word) <= 6 or not word.isalpha():
        return ()
    found = [w for w in sorted(COMMON) if _is_cut(word, w)]
    if word.endswith("s") and word[:-1] in _KNOWN:
        return tuple(f"{m.replace('_', ' ')}s" for m in _KNOWN[word[:-1]])
    closest = [w for w in found if w[:2] == word[:2]] or found
    return tuple(closest) if len(closest) == 1 else ()


def _is_cut(short: str, word: str) -> bool:
    """Whether letters were left out of a word: its beginning up to a consonant, or its consonants in order."""
    if len(word) < len(short) + 2 or word[0] != short[0]:
        return False
    if word.startswith(short):
        return len(short) > 3 and short[-1] not in _VOWELS  # three letters are a word as often as a beginning: out, pro, per
    if word[-1] != short[-1] or not _in_order(short, word):
        return False
    vowels = sum(ch in _VOWELS for ch in short[1:])
    return not vowels or (word[:2] == short[:2] and len(short) > 4 and 2 * len(short) > len(word))


def _in_order(short: str, word: str) -> bool:
    letters = iter(word)
    return all(ch in letters for ch in short)
