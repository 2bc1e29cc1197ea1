extension Int {
    /// The number with what it counts, such as "1 room" and "2 rooms".
    func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
