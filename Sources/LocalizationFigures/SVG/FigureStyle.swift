/// The colour of a series or of a layer of a plan.
///
/// The colours can be distinguished with any kind of colour vision, on white and on black. Source: M. Okabe and K. Ito,
/// *Color Universal Design*, 2008. On a dark background, each colour has a lighter shade.
public enum FigureColor: String, CaseIterable, Sendable {
    /// A colour of the palette.
    case blue, vermilion, green, purple, orange, sky, gray

    /// The colour on a light background, as hexadecimal digits of red, green and blue.
    package var lightHex: String { shades.light }

    /// The light and the dark shade.
    var shades: (light: String, dark: String) {
        switch self {
        case .blue: ("0072b2", "4aa8e0")
        case .vermilion: ("d55e00", "ff8b3d")
        case .green: ("009e73", "2bc79a")
        case .purple: ("b0529a", "e39cc6")
        case .orange: ("c98a00", "f2b632")
        case .sky: ("3aa0d8", "9bd3f5")
        case .gray: ("6e7781", "9da7b1")
        }
    }

    /// The colour for the series with a number from 0; numbers beyond the palette start again.
    package static func series(_ number: Int) -> FigureColor { allCases[number % allCases.count] }

    var style: String { "f-" + rawValue }
}

/// The style sheet of figures: readable on white and, where the reader's system asks for it, on a dark background.
enum FigureStyle {
    /// The style sheet. A renderer without media queries uses the light colours.
    static let sheet: String = {
        let light = rules(
            background: "ffffff", text: "1f2328", soft: "57606a", grid: "e1e5ea", room: "f4f2ec", wall: "4a4640"
        )
        let dark = rules(
            background: "0d1117", text: "e6edf3", soft: "9da7b1", grid: "2a313a", room: "1b2129", wall: "b8b2a7")
        let colors = FigureColor.allCases
        let lightColors = colors.map { ".\($0.style){color:#\($0.shades.light)}" }.joined()
        let darkColors = colors.map { ".\($0.style){color:#\($0.shades.dark)}" }.joined()
        return light + lightColors + "@media (prefers-color-scheme:dark){" + dark + darkColors + "}"
    }()

    private static func rules(
        background: String, text: String, soft: String, grid: String, room: String, wall: String
    ) -> String {
        ".f-page{fill:#\(background)}.f-text{fill:#\(text)}.f-soft{fill:#\(soft)}.f-grid{stroke:#\(grid)}"
            + ".f-axis{stroke:#\(soft)}.f-room{fill:#\(room);stroke:#\(grid)}.f-wall{stroke:#\(wall)}"
            + ".f-name{fill:#\(soft);stroke:#\(background);stroke-width:3px;paint-order:stroke;stroke-linejoin:round}"
            + ".f-halo{stroke:#\(background)}.f-tag{stroke-width:3px;paint-order:stroke;stroke-linejoin:round}"
            + ".f-title{font-weight:600}"
    }
}
