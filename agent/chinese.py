"""Which text is Chinese, and traditional characters read as simplified ones, for the offline model."""

from __future__ import annotations

import re

__all__ = ["fold", "is_chinese"]

_TRADITIONAL = (
    "並佈倉個們倫側偵備傳傷價億優儲兩冊凍刪剛創劃劇劑動務勝勞勢匯區協厭參吳員問啟喬單嗎嘗國圍圓圖團執報場塊壓"
    "壞夠夾奧媽學實寧審寫將專尋對導層屬島師帶幫幾庫廣廳張強彈後徑從復恆惡愛態慣慮憑憶應懷戰戲換擁擇擊擔據擴攔"
    "攝敗數斷於時晝暫曉書會東條楊業極構樂標樣樹機檔檢權歡歲歷殘殺氣決沒況測準溫滅滿漢潔濟濾災為無煙煩熱燈營爭"
    "爾牆獎獨獲獻現環產畫異當療發盡監盤瞭確碼禮稅種稱積穩窮筆節範築簡簽籌糧約紅納純紙級細終組結絕絡給統經綠維"
    "網緊緒線編練縣縮總績織繫繼續罷羅義習聖聞聯聲職聽脫腦臨與興舉舊藝蘇處號術衛衝裏補裝裡製複見規視親覺覽觀觸"
    "訂計訊討訓託記訪設許診評詞試詩話該詳認語誤說誰課調談請論諸謀講謝證識譜譯議護讀變讓豐貓貝負財貨販責貴買費"
    "貼資賓賣質賬購贊趕趨跡踐車軍軟較載輕輪輯輸轉轟辦農這連週進遊運過達違遞遠適選遺還邊邏郵鄉鄰釋針鈕銀銷錄錢"
    "錯鍋鍵鎖鏈鏡鐘鐵長門閉開閒間閱闆關陣隊階際隨險隱雙雜離難雲電靈靜頁項順須預領頭頻顆題額願類顯風飛飯飲餘館"
    "馬駕騎騙驅驗體魚鮮鳥麗麥麼黃點齊齒龍龜"
)
_SIMPLIFIED = (
    "并布仓个们伦侧侦备传伤价亿优储两册冻删刚创划剧剂动务胜劳势汇区协厌参吴员问启乔单吗尝国围圆图团执报场块压"
    "坏够夹奥妈学实宁审写将专寻对导层属岛师带帮几库广厅张强弹后径从复恒恶爱态惯虑凭忆应怀战戏换拥择击担据扩拦"
    "摄败数断于时昼暂晓书会东条杨业极构乐标样树机档检权欢岁历残杀气决没况测准温灭满汉洁济滤灾为无烟烦热灯营争"
    "尔墙奖独获献现环产画异当疗发尽监盘了确码礼税种称积稳穷笔节范筑简签筹粮约红纳纯纸级细终组结绝络给统经绿维"
    "网紧绪线编练县缩总绩织系继续罢罗义习圣闻联声职听脱脑临与兴举旧艺苏处号术卫冲里补装里制复见规视亲觉览观触"
    "订计讯讨训托记访设许诊评词试诗话该详认语误说谁课调谈请论诸谋讲谢证识谱译议护读变让丰猫贝负财货贩责贵买费"
    "贴资宾卖质账购赞赶趋迹践车军软较载轻轮辑输转轰办农这连周进游运过达违递远适选遗还边逻邮乡邻释针钮银销录钱"
    "错锅键锁链镜钟铁长门闭开闲间阅板关阵队阶际随险隐双杂离难云电灵静页项顺须预领头频颗题额愿类显风飞饭饮余馆"
    "马驾骑骗驱验体鱼鲜鸟丽麦么黄点齐齿龙龟"
)
# The common ones, letter by letter: enough for requests, not a converter
_FOLD = str.maketrans(_TRADITIONAL, _SIMPLIFIED)


def fold(text: str) -> str:
    """Return `text` with traditional characters read as simplified ones; it keeps its length."""
    return text.translate(_FOLD)


def is_chinese(text: str) -> bool:
    """Say whether there is a Chinese character in `text`."""
    return re.search(r"[\u3400-\u9fff]", text) is not None
