/// The history of three beacons over weeks, as `indoorloc beacons --json` prints it.
enum StagedHistory {
    private static func levels(_ days: Int, _ level: (Int) -> Double) -> String {
        (0..<days).map { day in
            let date = "2026-\(day < 31 ? "01" : "02")-\(day % 31 < 9 ? "0" : "")\(day % 31 + 1)"
            return #"{"day":"\#(date)","level":\#(level(day)),"standardError":0.8,"readings":9.5}"#
        }.joined(separator: ",")
    }

    /// A beacon that fades, one that was moved, one of which little is received, and a healthy one.
    static let text = """
        {"from":"2026-01-01","to":"2026-02-10","days":41,"beacons":[
        {"beacon":"f7826da6-4fa2-4e98-8024-bc5b71e0893e/1/11","name":"1/11","change":"steady","text":"none","looks":420,
        "heard":400,"levels":[\(levels(41) { Double($0 % 3) / 4 })]},
        {"beacon":"f7826da6-4fa2-4e98-8024-bc5b71e0893e/1/12","name":"1/12","change":"drift",
        "text":"falls by 0.7 ± 0.1 dB a week since 2026-01-01, by 4.0 dB in all","since":"2026-01-01","perWeek":-0.7,
        "standardError":0.1,"total":-4,"correction":-3.4,"advice":"replaceBattery","adviceText":"replace the battery",
        "looks":410,"heard":391,"levels":[\(levels(41) { -0.1 * Double($0) + Double($0 % 2) })]},
        {"beacon":"f7826da6-4fa2-4e98-8024-bc5b71e0893e/1/13","name":"1/13","change":"step",
        "text":"weaker by 6.0 ± 0.8 dB since 2026-01-20, alike at all places","since":"2026-01-20","difference":-6,
        "standardError":0.8,"cause":"power","advice":"lookAtBeacon","adviceText":"look at the beacon","looks":300,
        "heard":280,"levels":[\(levels(41) { $0 < 19 ? 0.2 : -5.8 })]},
        {"beacon":"f7826da6-4fa2-4e98-8024-bc5b71e0893e/1/14","name":"1/14","change":"faint",
        "text":"received in 55 % of the expected looks of two weeks","received":0.55,"advice":"replaceBattery",
        "adviceText":"replace the battery","looks":300,"heard":120,"levels":[]}]}
        """
}
